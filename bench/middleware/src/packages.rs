//! Debian packages of foreign peers.

use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use takt_rt::child::{ChildProcess, Ending};

use crate::place::has_program;

/// Returns the packages that dpkg does not know as installed; none where there is no dpkg.
pub(crate) fn missing_packages(packages: &[String]) -> Vec<String> {
    if packages.is_empty() || !has_program("dpkg-query") {
        return Vec::new();
    }
    let format = "--showformat=${Package} ${db:Status-Status}\n";
    let output = Command::new("dpkg-query")
        .args(["--show", format])
        .args(packages)
        .output();
    let known = output.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
    let known = known.unwrap_or_default();
    let is_missing = |name: &&String| {
        let installed = format!("{name} installed");
        !known.lines().any(|line| line == installed)
    };
    packages.iter().filter(is_missing).cloned().collect()
}

/// Returns the size in MiB of packages and of all that they need; `None` if apt-get does not tell.
pub(crate) fn download_size(packages: &[String]) -> Option<f64> {
    let mut command = Command::new("apt-get");
    command.args([
        "install",
        "--print-uris",
        "--quiet=2",
        "--yes",
        "--no-install-recommends",
    ]);
    let output = command.args(packages).stderr(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    // 'ADDRESS' FILE BYTES CHECKSUM
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let sizes = text
        .lines()
        .filter_map(|line| line.split(' ').nth(2)?.parse::<u64>().ok());
    Some(sizes.sum::<u64>() as f64 / f64::from(1 << 20))
}

/// Installs packages, once more with a new list of packages if that fails.
pub(crate) fn apt(packages: &[String]) -> Result<(), String> {
    if packages.is_empty() {
        return Ok(());
    }
    let words = [
        &[
            "install",
            "--yes",
            "--no-install-recommends",
            "--option=DPkg::Lock::Timeout=300",
        ]
        .map(str::to_owned)[..],
        packages,
    ];
    let words = words.concat();
    apt_get(&words).or_else(|_| {
        apt_get(&["update".to_owned()])?;
        apt_get(&words)
    })
}

fn apt_get(words: &[String]) -> Result<(), String> {
    if !has_program("apt-get") {
        return Err(format!(
            "there is no apt-get; its packages are: {}",
            words.join(" ")
        ));
    }
    let mut command = match rustix::process::geteuid().is_root() {
        true => Command::new("apt-get"),
        false => {
            let mut command = Command::new("sudo");
            command.args(["--non-interactive", "apt-get"]);
            command
        }
    };
    command
        .args(words)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stderr(Stdio::null());
    // A package that is half installed is worse than a late end: this is not interrupted.
    let child = ChildProcess::start("apt-get", &mut command, Ending::Input);
    let ended = child.and_then(|child| child.finish(&AtomicBool::new(false)));
    let advice = format!("run: sudo apt-get {}", words.join(" "));
    match ended {
        Ok((_, status)) if status.success() => Ok(()),
        Ok((lines, _)) => {
            let last = lines.last().cloned().unwrap_or_default();
            Err(format!("apt-get failed: {last}; {advice}"))
        }
        Err(error) => Err(format!("apt-get {error}; {advice}")),
    }
}
