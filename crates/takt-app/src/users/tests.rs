//! Tests of the table of users.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use takt_space::UserRole;

use super::*;

fn peer(last: u8) -> Peer {
    Peer::tcp(([192, 0, 2, last], 50_000).into())
}

fn user(name: &str, password: &str) -> User {
    User {
        name: name.to_owned(),
        roles: UserRole::Operator.into(),
        proof: UserProof::Password(PasswordHash::of(password.as_bytes()).unwrap()),
    }
}

fn file(folder: &tempfile::TempDir) -> UserFile {
    UserFile::new(folder.path().join("users"), UserRole::Observer.into())
}

#[test]
fn passwords_are_checked_and_changes_take_effect() {
    let folder = tempfile::tempdir().unwrap();
    let users = file(&folder);
    assert!(!users.allows_user_names());
    users.add(user("anna", "hammer")).unwrap();
    let path = folder.path().join("users");
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("hammer"), "{text}");
    assert!(users.allows_user_names() && !users.allows_certificates());
    let check = |name, password: &str| users.user_name(&peer(1), name, password.as_bytes());
    let denied = Err(StatusCode::BadUserAccessDenied);
    assert_eq!(check("anna", "hammer"), Ok(UserRole::Operator.into()));
    for (name, password) in [("anna", "nail"), ("anna", ""), ("bert", "hammer")] {
        assert_eq!(check(name, password), denied);
    }
    assert!(!users.remove("anna", UserKind::UnixUser).unwrap());
    assert!(users.remove("anna", UserKind::Login).unwrap());
    assert!(!users.remove("anna", UserKind::Login).unwrap());
    assert_eq!(check("anna", "hammer"), denied);
    assert!(users.add(user("a:b", "x")).is_err());
}

/// A mistake in the file gives nobody a right: neither while the server runs, nor at its start.
#[test]
fn a_damaged_file_gives_no_rights() {
    let folder = tempfile::tempdir().unwrap();
    let users = file(&folder);
    let member = Peer::SharedMemory {
        user: Some(4_000_000_000),
        process: None,
        groups: vec![4_000_000_001],
    };
    let limited = User {
        name: "plant".to_owned(),
        roles: UserRole::Observer.into(),
        proof: UserProof::UnixGroup(4_000_000_001),
    };
    assert!(users.anonymous(&member).contains(UserRole::Operator));
    users.add(limited).unwrap();
    let observes = |users: &UserFile| {
        let roles = users.anonymous(&member);
        roles.contains(UserRole::Observer) && !roles.contains(UserRole::Operator)
    };
    assert!(observes(&users));
    let path = folder.path().join("users");
    let text = fs::read_to_string(&path).unwrap();
    for damaged in [
        text.replace("observer", "observr").into_bytes(),
        [text.as_bytes(), &[0xFF]].concat(),
    ] {
        std::thread::sleep(FileState::SAME_TIME);
        fs::write(&path, damaged).unwrap();
        assert!(observes(&users));
        assert!(observes(&file(&folder)));
        assert!(users.remove("plant", UserKind::UnixGroup).is_err());
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(observes(&users) && observes(&file(&folder)));
}

#[test]
fn one_certificate_is_one_user() {
    let folder = tempfile::tempdir().unwrap();
    let users = file(&folder);
    let with = |name: &str| User {
        name: name.to_owned(),
        roles: UserRole::Operator.into(),
        proof: UserProof::Certificate("ab".to_owned()),
    };
    users.add(with("anna")).unwrap();
    users.add(with("anna")).unwrap();
    let error = users.add(with("bert")).unwrap_err();
    assert!(matches!(error, UsersError::KnownCertificate(_)), "{error}");
}

/// The log does not tell which names are known.
#[test]
fn refusals_of_known_and_unknown_names_look_alike() {
    let folder = tempfile::tempdir().unwrap();
    let users = file(&folder);
    users.add(user("anna", "hammer")).unwrap();
    for name in ["anna", "bert"] {
        let refused = users.user_name(&peer(1), name, b"nail");
        assert_eq!(refused, Err(StatusCode::BadUserAccessDenied));
    }
    let mut lines = users.refusals.lines();
    lines.sort();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0].replace("anna", "bert"), lines[1]);
    assert!(!lines.concat().contains("nail"));
}

/// A password that was right once is recognised without the hash; a changed one is not.
#[test]
fn a_proven_password_is_checked_quickly_until_it_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let users = file(&folder);
    users.add(user("anna", "hammer")).unwrap();
    let check = |password: &str| users.user_name(&peer(1), "anna", password.as_bytes());
    let denied = Err(StatusCode::BadUserAccessDenied);
    assert_eq!(check("nail"), denied);
    assert!(!users.is_quick("anna") && !users.is_quick("bert"));
    for _ in 0..3 {
        assert_eq!(check("hammer"), Ok(UserRole::Operator.into()));
        assert!(users.is_quick("anna"));
        assert_eq!(check("nail"), denied);
    }
    std::thread::sleep(FileState::SAME_TIME);
    users.add(user("anna", "pliers")).unwrap();
    assert!(!users.is_quick("anna"));
    assert_eq!(check("hammer"), denied);
    assert_eq!(check("pliers"), Ok(UserRole::Operator.into()));
    assert!(users.remove("anna", UserKind::Login).unwrap());
    assert!(!users.is_quick("anna"));
    assert_eq!(check("pliers"), denied);
}

#[test]
fn unix_users_have_the_roles_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let users = file(&folder);
    let process = |user, group| Peer::SharedMemory {
        user,
        process: None,
        groups: vec![group],
    };
    let roles = |peer: &Peer| users.anonymous(peer).to_string();
    let usual = "anonymous,authenticated-user,observer,operator,engineer";
    let stranger = rustix::process::geteuid().as_raw() + 4711;
    let loopback = Peer::tcp(([127, 0, 0, 1], 50_000).into());
    assert_eq!(roles(&process(Some(stranger), 100)), usual);
    assert_eq!(roles(&loopback), "anonymous,observer");
    let add = |name: &str, roles: &str, proof| {
        let (name, roles) = (name.to_owned(), roles.parse().unwrap());
        users.add(User { name, roles, proof }).unwrap();
    };
    add("plant", "supervisor", UserProof::UnixGroup(100));
    let everybody = "anonymous,authenticated-user,observer";
    let supervisor = format!("{everybody},supervisor");
    assert_eq!(roles(&process(Some(stranger), 100)), supervisor);
    assert_eq!(roles(&process(Some(stranger), 101)), usual);
    add("bert", "security-admin", UserProof::UnixUser(stranger));
    let admin = format!("{everybody},security-admin");
    assert_eq!(roles(&process(Some(stranger), 100)), admin);
    assert_eq!(roles(&loopback), "observer");
    assert_eq!(roles(&process(None, 100)), "observer");
    let own = rustix::process::geteuid().as_raw();
    for all in [own, 0] {
        assert_eq!(users.anonymous(&process(Some(all), 100)), RoleSet::ALL);
    }
    assert!(!users.allows_user_names() && !users.allows_certificates());
}

fn local(user: Option<u32>) -> Peer {
    Peer::Tcp {
        address: ([127, 0, 0, 1], 50_000).into(),
        user,
    }
}

/// The loopback interface is open to all Unix users of a host, and to others behind relays.
#[test]
fn over_tcp_the_unix_user_decides_as_over_shared_memory() {
    let folder = tempfile::tempdir().unwrap();
    let users = file(&folder);
    let own = rustix::process::geteuid().as_raw();
    let stranger = own + 4711;
    for all in [own, 0] {
        assert_eq!(users.anonymous(&local(Some(all))), RoleSet::ALL);
    }
    let roles = |user| users.anonymous(&local(user)).to_string();
    assert_eq!(roles(Some(stranger)), "anonymous,observer");
    assert_eq!(roles(None), "anonymous,observer");
    users
        .add(User {
            name: "bert".to_owned(),
            roles: UserRole::Operator.into(),
            proof: UserProof::UnixUser(stranger),
        })
        .unwrap();
    let operator = "anonymous,authenticated-user,observer,operator";
    assert_eq!(roles(Some(stranger)), operator);
    assert_eq!(roles(Some(stranger + 1)), "observer");
    assert_eq!(roles(None), "observer");
    // The same through a registry, which does not know the groups of its client.
    let through = |user, groups| {
        let identity = ForwardedIdentity::Unix { user, groups };
        users.limit(&identity).unwrap().to_string()
    };
    assert_eq!(through(stranger, Vec::new()), operator);
    assert_eq!(through(stranger + 1, Vec::new()), "observer");
    assert_eq!(
        users.limit(&ForwardedIdentity::Unix {
            user: own,
            groups: Vec::new()
        }),
        Some(RoleSet::ALL)
    );
    assert!(through(stranger + 1, vec![100]).contains("operator"));
}

#[test]
fn a_trusted_loopback_interface_makes_operators() {
    let folder = tempfile::tempdir().unwrap();
    let users = file(&folder).trusting_loopback(true);
    let stranger = rustix::process::geteuid().as_raw() + 4711;
    for user in [Some(stranger), None] {
        let roles = users.anonymous(&local(user)).to_string();
        assert_eq!(roles, "anonymous,observer,operator");
    }
    assert_eq!(users.anonymous(&peer(1)).to_string(), "anonymous,observer");
    // It may be a Unix user whose rights the file limits.
    users
        .add(User {
            name: "plant".to_owned(),
            roles: UserRole::Observer.into(),
            proof: UserProof::UnixGroup(100),
        })
        .unwrap();
    for user in [Some(stranger), None] {
        assert_eq!(users.anonymous(&local(user)).to_string(), "observer");
    }
}

#[test]
fn users_that_are_added_at_the_same_time_are_all_kept() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|threads| {
        for number in 0..10 {
            // As processes of their own do it.
            let users = file(&folder);
            threads.spawn(move || {
                let user = User {
                    name: format!("user{number}"),
                    roles: "operator".parse().unwrap(),
                    proof: UserProof::UnixUser(number),
                };
                users.add(user).unwrap();
            });
        }
    });
    assert_eq!(file(&folder).users().len(), 10);
}

#[test]
fn unix_users_are_told_apart_by_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let users = file(&folder);
    for (name, roles) in [("root", "operator"), ("0", "observer")] {
        let user = User {
            name: name.to_owned(),
            roles: roles.parse().unwrap(),
            proof: unix_user(name).unwrap(),
        };
        users.add(user).unwrap();
    }
    let all = users.users();
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0].roles.to_string(), "observer");
    assert!(users.remove("root", UserKind::UnixUser).unwrap());
    assert!(users.users().is_empty());
}

#[test]
fn a_file_that_is_repaired_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let users = file(&folder);
    let path = folder.path().join("users");
    let line = "anna:operator:unix-user=7\n";
    fs::create_dir(&path).unwrap();
    assert!(users.users().is_empty());
    fs::remove_dir(&path).unwrap();
    fs::write(&path, line).unwrap();
    assert_eq!(users.users().len(), 1);
    // A change of the mode alone is a change.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::thread::sleep(2 * FileState::SAME_TIME);
    assert_eq!(users.users().len(), 1);
    let before = users.state().read_at;
    fs::set_permissions(&path, mode).unwrap();
    std::thread::sleep(2 * FileState::SAME_TIME);
    assert_eq!(users.users().len(), 1);
    assert!(before.is_some() && users.state().read_at != before);
}
