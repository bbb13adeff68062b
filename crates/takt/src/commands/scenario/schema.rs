//! `takt scenario schema`.

pub(super) fn run() -> miette::Result<()> {
    crate::output::line(format!("{:#}", takt_scenario::schema()));
    Ok(())
}
