//! `takt scenario schema`.

pub(super) fn run() -> miette::Result<()> {
    crate::output::lines(format!("{:#}", takt_scenario::schema()).lines());
    Ok(())
}
