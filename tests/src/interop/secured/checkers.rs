//! Clients that run checks, on secured channels of a registry.

use std::time::Instant;

use serde_json::Value;

use super::site::Site;
use super::{Case, POLICIES, Token, cases};
use crate::checker::Checker;
use crate::interop::checks::{CHECK, Place, Servers, check_of, run};
use crate::interop::results::{Results, Role};
use crate::process::Process;
use crate::sandbox::Sandbox;

/// Services and the checks that use them. The last two are about the channel: they are done once for each.
const SERVICES: [(&str, &str); 8] = [
    ("browse", "browse_continuation"),
    ("read", "index_range"),
    ("write", "write_plain"),
    ("call", "call"),
    ("subscribe", "subscription"),
    ("transfer", "transfer"),
    ("renewal", "renewal"),
    ("reconnect", "restart"),
];

/// Runs checks with one client on secured channels of a registry: each policy and mode, each of these tokens. `provider` is the
/// program `takt-interop-provider`.
///
/// # Panics
/// If the client is not refused where it has to be, or if a check fails.
pub fn client_passes_secured_checks(client: Checker, provider: &'static str, tokens: &[Token]) {
    let sandbox = Sandbox::new();
    let site = Site::new(&sandbox, client.name(), POLICIES[0]);
    let certificates = sandbox.data_directory().join("pki");
    let mut servers = Servers::start_in(sandbox, provider, &site.registry_arguments());
    let trusting = Sandbox::new();
    let mut command = client.command();
    let mut process = Process::spawn(client.name(), servers.sandbox.confine(&mut command));
    let mut check = |name: &str, security: &Value| {
        run(&mut process, &mut servers, Place::Registry, name, security)
    };

    let cases = cases(&POLICIES, tokens);
    let refused = check("write_plain", &site.security(&cases[0]));
    assert_eq!(refused["ok"], false, "it is not trusted yet: {refused}");
    site.client.is_trusted_now(&trusting, &certificates);

    let mut results = Results::new(client.name(), Role::Client, &POLICIES);
    for case in &cases {
        let names = [case.policy, case.mode, &case.token.to_string()];
        for (service, name) in SERVICES {
            let is_about_channel = ["renewal", "reconnect"].contains(&service);
            if is_about_channel && case.token != Token::UserName {
                continue;
            }
            if service == "reconnect" && !client.recovers_a_secured_session() {
                continue;
            }
            let started = Instant::now();
            let answer = check(name, &site.security(case));
            println!("{case}, {name}: {:.1?}", started.elapsed());
            let passed = check_of(name).is_passed(&answer);
            let result = passed.then_some(()).ok_or_else(|| answer.to_string());
            results.add(names, service, &result);
        }
    }
    for token in tokens.iter().filter(|token| **token != Token::Anonymous) {
        let case = Case {
            mode: "SignAndEncrypt",
            token: *token,
            ..cases[0]
        };
        let refused = check("write_plain", &site.refused(&trusting, &case));
        assert_eq!(refused["ok"], false, "a wrong {token}: {refused}");
    }
    process.close_input();
    let report = process.report();
    let finished = process.finish(CHECK);
    assert!(finished.status.success(), "{client:?}{report}");
    results.finish();
}
