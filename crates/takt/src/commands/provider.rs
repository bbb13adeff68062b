//! `takt provider host|machine`: the Providers of the demonstration.

use takt_app::Provider;
use takt_app::serve::ServeOptions;
use takt_demo::{host, machine};

use crate::arguments::{DemoProvider, ProviderArguments};
use crate::commands::user::password;
use crate::server_interrupt;
use crate::{explain, output};

pub fn run(arguments: &ProviderArguments) -> miette::Result<()> {
    takt_rt::heap::share_one_heap();
    let interrupt = server_interrupt::install()?;
    let usual_name = match arguments.provider {
        DemoProvider::Host => host::NAME,
        DemoProvider::Machine => machine::NAME,
    };
    let name = arguments.name.as_deref().unwrap_or(usual_name);
    let builder = Provider::builder(name)
        .registry(arguments.registry.to_string())
        .endpoint(arguments.endpoint.to_string())
        .registry_identity(arguments.registry_security.user.identity(password)?)
        .registry_security(arguments.registry_security.options(None))
        .budgets(arguments.memory.budgets());
    let builder = match arguments.history_events {
        true => builder.historized_events(),
        false => builder,
    };
    let builder = match arguments.history_events_role {
        Some(roles) => builder.event_history_roles(roles),
        None => builder,
    };
    let builder = builder.serve(ServeOptions {
        no_tcp: arguments.no_tcp,
        group: arguments.share.group.clone(),
        security: arguments.security.clone().options(None),
        audit: arguments.security.audit.clone(),
        reverse_connect: arguments.reverse_connect.clone(),
        advertise: arguments.advertise.clone(),
        ..ServeOptions::default()
    });
    let provider = match arguments.provider {
        DemoProvider::Host => host::start(builder).map_err(|error| explain::provider(&error))?,
        DemoProvider::Machine => machine::start(builder).map_err(|error| match error {
            machine::MachineError::Provider(error) => explain::provider(&error),
            error => explain::with_help(error, "Is there a limit on threads (ulimit -u)?"),
        })?,
    };
    output::ready(arguments.json, name, provider.endpoints());
    // Arguments and the start took 0.6 MiB.
    takt_rt::heap::give_back();
    interrupt.wait(None);
    drop(provider);
    output::ended(arguments.json, name);
    Ok(())
}
