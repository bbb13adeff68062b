//! Other host for tests: a network namespace with an sshd, whose keys and settings are in a temporary folder.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Place of the server in Debian, which is not among a user's programs.
const SSHD: &str = "/usr/sbin/sshd";
const PORT: u16 = 2222;
/// Time in which the sessions of ended connections end, also on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Addresses of the other host and of this one, reserved for documentation (RFC 5737).
const THERE: &str = "198.51.100.1";
const HERE: &str = "198.51.100.2";

/// Script of the other host: a folder of its own for the state of sshd, which begins when the link is there.
const SERVER: &str = "ip link set lo up && mount -t tmpfs tmpfs /run && mkdir -p /run/sshd && echo ready && read -r line && \
                      exec \"$@\"";

/// Script of this host: a link to the other one, a login that succeeds, and the program.
const CLIENT: &str = "set -e
    server=$1 config=$2 there=$3 here=$4
    shift 4
    ip link set lo up
    ip link add takt1 type veth peer name takt0 netns \"$server\"
    ip addr add \"$here/30\" dev takt1
    nsenter --target \"$server\" --net sh -c \"ip addr add $there/30 dev takt0 && ip link set takt0 up\"
    ip link set takt1 up
    attempt=0
    until ssh -F \"$config\" other-host true 2>\"$config.log\"; do
        attempt=$((attempt + 1))
        if [ $attempt -ge 300 ]; then cat \"$config.log\" >&2; exit 1; fi
        sleep 0.1
    done
    exec \"$@\"";

/// Other host, which ends with this value.
pub(crate) struct OtherHost {
    sshd: Child,
    /// Configuration of `ssh`. It names the host `other-host`.
    pub(crate) config: PathBuf,
}

impl OtherHost {
    /// Starts the host.
    pub(crate) fn start(folder: &Path) -> Self {
        assert!(Path::new(SSHD).is_file(), "install openssh-server");
        for name in ["host", "user"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
            assert!(keygen.arg(folder.join(name)).status().unwrap().success());
        }
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        std::fs::write(
            folder.join("known"),
            format!("[{THERE}]:{PORT} {}", read("host.pub")),
        )
        .unwrap();
        let settings = format!(
            "Port {PORT}\nListenAddress 0.0.0.0\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nPermitRootLogin yes\n\
             PasswordAuthentication no\nUsePAM no\nPidFile none\n",
            path("host"),
            path("user.pub")
        );
        std::fs::write(folder.join("sshd_config"), settings).unwrap();
        let settings = format!(
            "Host other-host\nHostName {THERE}\nPort {PORT}\nUser root\nIdentityFile {}\nIdentitiesOnly yes\n\
             UserKnownHostsFile {}\nGlobalKnownHostsFile none\nStrictHostKeyChecking yes\nBatchMode yes\n",
            path("user"),
            path("known")
        );
        let config = folder.join("ssh_config");
        std::fs::write(&config, settings).unwrap();
        let mut command = Command::new("unshare");
        let mut sshd = command
            .args(["--net", "--mount", "sh", "-c", SERVER, "sh"])
            .args([SSHD, "-D", "-e", "-f", &path("sshd_config")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = sshd.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        sshd.stdin.take().unwrap().write_all(b"begin\n").unwrap();
        Self { sshd, config }
    }

    /// Waits until no process but sshd is left on the host.
    pub(crate) fn wait_until_idle(&self) {
        let namespace = |process: u32| std::fs::read_link(format!("/proc/{process}/ns/net")).ok();
        let here = namespace(self.sshd.id());
        let deadline = Instant::now() + PATIENCE;
        loop {
            let processes = std::fs::read_dir("/proc").unwrap().flatten();
            let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
            let left: Vec<u32> = ids
                .filter(|id| *id != self.sshd.id() && namespace(*id) == here)
                .collect();
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < deadline, "processes are left: {left:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns a command that runs in a namespace with a link to the host.
    pub(crate) fn with_link(&self, program: &Command) -> Command {
        let mut command = Command::new("unshare");
        command
            .args(["--net", "sh", "-c", CLIENT, "sh"])
            .arg(self.sshd.id().to_string())
            .arg(&self.config)
            .args([THERE, HERE])
            .arg(program.get_program())
            .args(program.get_args());
        command
    }
}

impl Drop for OtherHost {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.sshd.kill();
        let _ = self.sshd.wait();
    }
}
