//! Checks of signatures, padding and passwords take as long whatever is wrong: an attacker who measures times learns nothing.
//!
//! Times on a shared machine vary, so instructions are counted, by callgrind: they are the same in each run. Each case runs in a
//! process of its own. A comparison that ends at the first difference is counted as well: if the method did not notice it, it would
//! notice nothing. Without optimization the tests are ignored: `./test instructions` runs them with it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it left out"
)]

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use takt_app::users::{User, UserFile, UserProof};
use takt_crypto::{
    ApplicationSecurity, CertificateStore, KeyKind, KeyShare, NewCertificate, PasswordHash,
    PolicyProfile,
};
use takt_services::Users;
use takt_space::{Peer, UserRole};
use takt_tcp::{ChunkSecurity, Role, SecuredPolicy, TokenSecurity};
use takt_ua::enumerations::MessageSecurityMode;

/// Variable with the case that a process measures, and variable with the folder of its files.
const CASE: &str = "TAKT_TIMED_CASE";
const FOLDER: &str = "TAKT_TIMED_FOLDER";

/// Length of the headers of a chunk up to the encrypted part.
const HEADER: usize = 16;

/// Length of the body: the padding has 3 bytes and their count.
const BODY: usize = 100;

const SIGNATURE: usize = 32;

/// Passwords and names have the same length, as far as they are compared.
const PASSWORD: &str = "correct horse";
const WRONG_PASSWORD: &str = "correct house";

// ---- what is counted

#[inline(never)]
fn measured_open(security: &dyn ChunkSecurity, chunk: &mut [u8]) -> bool {
    security.open(chunk, HEADER, 0).is_ok()
}

#[inline(never)]
fn measured_password(users: &UserFile, name: &str, password: &str) -> bool {
    users.user_name(&peer(), name, password.as_bytes()).is_ok()
}

/// A comparison that ends at the first difference: the mistake that the tests are to find.
#[inline(never)]
fn measured_leaky(one: &[u8], other: &[u8]) -> bool {
    let mut pairs = one.iter().zip(other);
    pairs.all(|(one, other)| black_box(one) == black_box(other))
}

/// A check that looks for the user first: the mistake that tells which names exist.
#[inline(never)]
fn measured_leaky_password(users: &UserFile, name: &str, password: &str) -> bool {
    users.has_password(name) && users.user_name(&peer(), name, password.as_bytes()).is_ok()
}

/// The functions whose instructions are counted.
const MEASURED: [&str; 4] = [
    "measured_open",
    "measured_password",
    "measured_leaky",
    "measured_leaky_password",
];

fn peer() -> Peer {
    Peer::tcp(([192, 0, 2, 7], 50_000).into())
}

// ---- the processes in which it is counted

/// Runs one case. The test that counts starts it.
#[test]
#[ignore = "a process of the other tests"]
fn subject() {
    let Ok(case) = std::env::var(CASE) else {
        return;
    };
    let folder = std::env::var(FOLDER).unwrap();
    let folder = Path::new(&folder);
    match case.split_once(' ').unwrap() {
        ("leaky", at) => {
            let right = [7; SIGNATURE];
            let mut wrong = right;
            wrong[at.parse::<usize>().unwrap()] ^= 1;
            assert!(!measured_leaky(&right, &wrong));
        }
        ("password", name) => {
            let users = users(folder);
            // The first check makes the hash of nobody.
            let _ = users.user_name(&peer(), "first", WRONG_PASSWORD.as_bytes());
            assert!(!measured_password(&users, name, WRONG_PASSWORD));
        }
        ("leaky-password", name) => {
            let users = users(folder);
            let _ = users.user_name(&peer(), "first", WRONG_PASSWORD.as_bytes());
            assert!(!measured_leaky_password(&users, name, WRONG_PASSWORD));
        }
        (kind, mistake) => {
            let token = |role| token(folder, kind, role);
            let (client, server) = (token(Role::Client), token(Role::Server));
            // Once without counting: tables and functions are found at the first use.
            let mut right = message(&client, |_| {});
            assert!(server.receive.open(&mut right, HEADER, 0).is_ok());
            let mut wrong = message(&client, |plain| spoil(plain, mistake));
            assert!(!measured_open(&*server.receive, &mut wrong));
        }
    }
}

/// Returns the security of a token whose keys are always the same.
fn token(folder: &Path, kind: &str, role: Role) -> TokenSecurity {
    let (policy, mode) = kind.split_once(',').unwrap();
    let profile = PolicyProfile::by_name(policy).unwrap();
    let mode = match mode {
        "sign" => MessageSecurityMode::Sign,
        _ => MessageSecurityMode::SignAndEncrypt,
    };
    let store = CertificateStore::open(folder).unwrap();
    let (certificate, key) = store.own_files("Timed", KeyKind::Rsa);
    let application = ApplicationSecurity::with_files(store, &certificate, &key).unwrap();
    let policy = SecuredPolicy::for_server(profile, Arc::new(application));
    let (client, server) = ([1; 32], [2; 32]);
    let (own, peer) = match role {
        Role::Client => (client, server),
        Role::Server => (server, client),
    };
    let own = KeyShare::from_nonce(own.to_vec());
    policy.symmetric(role, mode, &own, &peer).unwrap()
}

/// Returns a chunk whose plain text is changed before it is encrypted.
fn message(client: &TokenSecurity, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let send = &*client.send;
    let mut chunk = vec![5; send.sealed_size(HEADER, BODY)];
    send.seal(&mut chunk, HEADER, BODY).unwrap();
    let encrypted = &mut chunk[HEADER..];
    if send.sizes().cipher_block == 1 {
        change(encrypted);
        return chunk;
    }
    // Keys for sending decrypt as well: they are symmetric.
    send.decrypt(encrypted).unwrap();
    change(encrypted);
    send.encrypt(encrypted, encrypted.len()).unwrap();
    chunk
}

fn spoil(plain: &mut [u8], mistake: &str) {
    let signature = plain.len() - SIGNATURE;
    match mistake {
        "first byte" => plain[signature] ^= 0x80,
        "last byte" => plain[signature + SIGNATURE - 1] ^= 1,
        "all bytes" => plain[signature..].fill(0),
        // The count of the padding stands in front of the signature.
        "no padding" => plain[signature - 1] = 0,
        "long padding" => plain[signature - 1] = 0xFF,
        "mixed padding" => plain[signature - 3] ^= 1,
        "body" => plain[20] ^= 1,
        other => panic!("{other}"),
    }
}

fn users(folder: &Path) -> UserFile {
    UserFile::new(folder.join("users"), UserRole::Observer.into())
}

// ---- the counts

/// Returns a folder with the files of all cases.
fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = CertificateStore::open(folder.path()).unwrap();
    let new = NewCertificate {
        application_name: "Timed".to_owned(),
        application_uri: "urn:timed".to_owned(),
        host_names: vec!["localhost".to_owned()],
        addresses: Vec::new(),
        validity: std::time::Duration::from_secs(24 * 3600),
        key_bits: 2048,
    };
    store.own(&new, KeyKind::Rsa).unwrap();
    let users = users(folder.path());
    for (name, proof) in [
        (
            "anna",
            UserProof::Password(PasswordHash::of(PASSWORD.as_bytes()).unwrap()),
        ),
        ("cert", UserProof::Certificate("00".repeat(32))),
    ] {
        let user = User {
            name: name.to_owned(),
            roles: UserRole::Operator.into(),
            proof,
        };
        users.add(user).unwrap();
    }
    folder
}

/// Returns the number of instructions of a case; `None` without valgrind.
fn count(folder: &Path, case: &str) -> Option<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(["--collect-atstart=no"])
        .args(MEASURED.map(|name| format!("--toggle-collect=*::{name}")))
        // Names that a linker with optimization gives.
        .args(MEASURED.map(|name| format!("--toggle-collect=*::{name}.llvm.*")))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "subject", "--ignored", "--test-threads=1"])
        .env(CASE, case)
        .env(FOLDER, folder);
    let output = match valgrind.output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => panic!("valgrind: {error}"),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let passed = String::from_utf8_lossy(&output.stdout).contains("1 passed");
    assert!(output.status.success() && passed, "{case}: {said}");
    let line = said
        .lines()
        .find_map(|line| line.split_once("Collected : "));
    let count = line.and_then(|(_, count)| count.trim().parse().ok());
    let count: u64 = count.unwrap_or_else(|| panic!("{case}: {said}"));
    assert!(count > 0, "{case}: nothing was counted");
    Some(count)
}

/// Returns the number of instructions of each case; `None` without valgrind.
fn counts(folder: &Path, cases: &[String]) -> Option<Vec<u64>> {
    let all: Option<Vec<u64>> = cases.iter().map(|case| count(folder, case)).collect();
    if all.is_none() {
        println!("skipped: there is no valgrind, which counts instructions");
    }
    all
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "./test instructions runs it, with optimization"
)]
fn a_leaky_comparison_is_noticed() {
    let folder = prepared();
    let cases = ["leaky 0", "leaky 31"].map(str::to_owned);
    let Some(counts) = counts(folder.path(), &cases) else {
        return;
    };
    assert!(counts[1] > counts[0] + 31, "{counts:?}");
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "./test instructions runs it, with optimization"
)]
fn wrong_signatures_and_paddings_take_the_same_instructions() {
    let folder = prepared();
    let signatures = ["first byte", "last byte", "all bytes", "body"];
    let paddings = ["no padding", "long padding", "mixed padding"];
    // The policies differ in the length of the symmetric key only.
    for (kind, paddings) in [
        ("Aes256_Sha256_RsaPss,encrypt", &paddings[..]),
        ("Aes128_Sha256_RsaOaep,encrypt", &paddings[..]),
        ("Basic256Sha256,sign", &[]),
    ] {
        let mistakes = signatures.iter().chain(paddings);
        let cases: Vec<String> = mistakes
            .map(|mistake| format!("{kind} {mistake}"))
            .collect();
        let Some(counts) = counts(folder.path(), &cases) else {
            return;
        };
        let same = counts.iter().all(|count| *count == counts[0]);
        assert!(same, "{cases:?}: {counts:?}");
    }
}

/// The results of a check are remembered by name, which takes a few instructions more or less.
#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "./test instructions runs it, with optimization"
)]
fn an_unknown_name_takes_as_long_as_a_wrong_password() {
    let folder = prepared();
    let cases = ["password anna", "password none", "password cert"].map(str::to_owned);
    let Some(honest) = counts(folder.path(), &cases) else {
        return;
    };
    let differs = |one: u64, other: u64| one.abs_diff(other) > one / 1000;
    assert!(
        !differs(honest[0], honest[1]) && !differs(honest[0], honest[2]),
        "{honest:?}"
    );
    let cases = ["leaky-password anna", "leaky-password none"].map(str::to_owned);
    let Some(leaky) = counts(folder.path(), &cases) else {
        return;
    };
    assert!(
        differs(leaky[0], leaky[1]),
        "it would be noticed: {leaky:?}"
    );
}
