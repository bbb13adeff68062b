//! `takt scenario schema`.

pub(super) fn run() -> miette::Result<()> {
    println!("{:#}", takt_scenario::schema());
    Ok(())
}
