//! A file with the symmetric keys of channels, from which Wireshark decrypts recorded messages: for diagnosis only.
//!
//! Each token has six lines in the form that Wireshark's OPC UA dissector reads since version 4.4, `NAME_CHANNEL_TOKEN: VALUE`.
//! Signing keys are not among them, so a reader of the file cannot change messages.

use std::fmt::{self, Write as _};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::OFlags;
use rustix::io::Errno;
use takt_crypto::{ChannelKeys, PolicyProfile};
use zeroize::Zeroizing;

/// Permissions of others than the owner.
const OTHERS: u32 = 0o077;

/// A file to which keys are appended. Several processes may share one.
pub struct KeyLog {
    file: File,
    path: PathBuf,
    has_failed: AtomicBool,
}

/// Error of a file that cannot take keys.
#[derive(Debug, thiserror::Error)]
pub enum KeyLogError {
    /// The file cannot be opened.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// Path of something else than a regular file. A symbolic link is not followed.
    #[error("{} is not a regular file: give the path of one, or of a new one", .0.display())]
    NotAFile(PathBuf),
    /// Other users could read it.
    #[error("{} belongs to another user, or has permissions for others (mode {mode:04o}): remove it, or `chmod 600` it", path.display())]
    Mode {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
}

/// The keys of a token: those for messages of the client and those for messages of the server.
pub struct LoggedKeys {
    keys: ChannelKeys,
    signature_length: usize,
}

impl LoggedKeys {
    /// Prepares the keys of a token.
    #[must_use]
    pub fn new(profile: &PolicyProfile, keys: ChannelKeys) -> Self {
        Self {
            keys,
            signature_length: profile.symmetric_signature.length(),
        }
    }

    /// Returns the six lines of a token.
    fn lines(&self, channel_id: u32, token_id: u32) -> Zeroizing<String> {
        let mut lines = Zeroizing::new(String::with_capacity(512));
        for (side, keys) in [("client", &self.keys.client), ("server", &self.keys.server)] {
            for (name, bytes) in [("iv", keys.iv()), ("key", keys.encrypting_key())] {
                // A String takes everything.
                let _ = write!(lines, "{side}_{name}_{channel_id}_{token_id}: ");
                for byte in bytes {
                    let _ = write!(lines, "{byte:02X}");
                }
                lines.push('\n');
            }
            let _ = writeln!(
                lines,
                "{side}_siglen_{channel_id}_{token_id}: {}",
                self.signature_length
            );
        }
        lines
    }
}

impl KeyLog {
    /// Opens a file for appending; a missing one is created for this user only.
    ///
    /// # Errors
    /// [`KeyLogError`]: links, other things than files, and files that others could read are refused.
    pub fn open(path: &Path) -> Result<Self, KeyLogError> {
        let failed = |source: io::Error| match source.raw_os_error().map(Errno::from_raw_os_error) {
            // A symbolic link, which is not followed, and a pipe without a reader.
            Some(Errno::LOOP | Errno::NXIO) => KeyLogError::NotAFile(path.to_owned()),
            _ => KeyLogError::Io {
                path: path.to_owned(),
                source,
            },
        };
        // Without waiting: a pipe would have no reader.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(flags.bits().cast_signed())
            .open(path)
            .map_err(failed)?;
        // The open file is examined, not the path, which could name another file by now.
        let opened = file.metadata().map_err(failed)?;
        if !opened.is_file() {
            return Err(KeyLogError::NotAFile(path.to_owned()));
        }
        let mode = opened.mode() & 0o7777;
        let user = rustix::process::geteuid().as_raw();
        if mode & OTHERS != 0 || opened.uid() != user {
            return Err(KeyLogError::Mode {
                path: path.to_owned(),
                mode,
            });
        }
        Ok(Self {
            file,
            path: path.to_owned(),
            has_failed: AtomicBool::new(false),
        })
    }

    /// Appends the keys of a token. They are written at once, so that lines of several processes do not mix. A failure is logged
    /// once, and does not concern the channel.
    pub(crate) fn note(&self, channel_id: u32, token_id: u32, keys: &LoggedKeys) {
        let lines = keys.lines(channel_id, token_id);
        if let Err(error) = (&self.file).write_all(lines.as_bytes())
            && !self.has_failed.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(file = %self.path.display(), %error, "keys of channels could not be written");
        }
    }
}

impl fmt::Debug for KeyLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "KeyLog({})", self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use takt_crypto::KeyShare;

    use super::*;

    fn keys_of(profile: &PolicyProfile) -> LoggedKeys {
        let share = || KeyShare::generate(profile).unwrap();
        let keys = ChannelKeys::derive(profile, &share(), share().nonce(), true, true);
        LoggedKeys::new(profile, keys.unwrap())
    }

    #[test]
    fn a_token_has_six_lines() {
        for profile in PolicyProfile::ALL {
            let keys = keys_of(profile);
            let lines = keys.lines(7, 3);
            let lines: Vec<&str> = lines.lines().collect();
            let names = [
                "client_iv",
                "client_key",
                "client_siglen",
                "server_iv",
                "server_key",
                "server_siglen",
            ];
            let key = 2 * profile.cipher.key_length();
            let iv = 2 * profile.cipher.iv_length();
            for ((line, name), digits) in lines.iter().zip(names).zip([iv, key, 2, iv, key, 2]) {
                let value = line.strip_prefix(&format!("{name}_7_3: ")).unwrap();
                assert_eq!(value.len(), digits, "{line}");
                assert!(value.bytes().all(|byte| byte.is_ascii_hexdigit()));
            }
            assert_eq!(lines.len(), names.len());
            let length = profile.symmetric_signature.length();
            assert_eq!(lines[2], format!("client_siglen_7_3: {length}"));
            assert_ne!(lines[1][14..], lines[4][14..], "each side has its own key");
        }
    }

    #[test]
    fn the_file_is_for_its_owner_and_is_appended_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let keys = keys_of(PolicyProfile::ALL[0]);
        for channel in [1, 2] {
            KeyLog::open(&path).unwrap().note(channel, 1, &keys);
        }
        let mode = std::fs::metadata(&path).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 12);
        assert!(!format!("{:?}", KeyLog::open(&path).unwrap()).contains("_key"));
    }

    #[test]
    fn files_that_others_could_read_links_and_pipes_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        std::fs::write(&path, "").unwrap();
        for mode in [0o640, 0o604, 0o666] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let refused = KeyLog::open(&path);
            assert!(matches!(refused, Err(KeyLogError::Mode { .. })), "{mode:o}");
        }
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &link).unwrap();
        assert!(matches!(KeyLog::open(&link), Err(KeyLogError::NotAFile(_))));
        assert!(!folder.path().join("elsewhere").exists());
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        )
        .unwrap();
        assert!(matches!(KeyLog::open(&pipe), Err(KeyLogError::NotAFile(_))));
        for other in [folder.path(), Path::new("/dev/null")] {
            assert!(KeyLog::open(other).is_err(), "{other:?}");
        }
    }
}
