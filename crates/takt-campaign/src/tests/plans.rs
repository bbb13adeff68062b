//! Cases of campaigns, and mistakes in their files.

use crate::CampaignPlanError;

use super::folder::{Folder, SCENARIO};

fn cases(campaign: &str) -> Vec<Vec<(String, String)>> {
    let plan = Folder::new(campaign).plan().unwrap();
    plan.cases.into_iter().map(|case| case.settings).collect()
}

fn shown(cases: &[Vec<(String, String)>]) -> Vec<String> {
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let case = |case: &Vec<(String, String)>| {
        let values = case
            .iter()
            .map(|(path, value)| format!("{}={value}", last(path)));
        values.collect::<Vec<_>>().join(" ")
    };
    cases.iter().map(case).collect()
}

const HEAD: &str = "version = 1\nscenarios = [\"plant.toml\"]\n";

#[test]
fn cases_are_all_combinations() {
    let campaign = format!(
        "{HEAD}
[[sweeps]]
variable = \"frame\"
values = [\"64 B\", \"1522 B\"]
[[sweeps]]
fields = [\"applications.control.cycle\", \"applications.control.pcp\"]
values = [[\"1 ms\", 3], [\"2 ms\", 2]]
[[derived]]
field = \"applications.control.payload\"
of = \"frame\"
plus = \"-22 B\"
[[derived]]
field = \"applications.control.offset\"
of = \"applications.control.cycle\"
times = 0.5
"
    );
    let expected = [
        "cycle=1 ms pcp=3 payload=42 B offset=500 us",
        "cycle=2 ms pcp=2 payload=42 B offset=1 ms",
        "cycle=1 ms pcp=3 payload=1500 B offset=500 us",
        "cycle=2 ms pcp=2 payload=1500 B offset=1 ms",
    ];
    assert_eq!(shown(&cases(&campaign)), expected);
    let plan = Folder::new(&campaign).plan().unwrap();
    // The variable is a value of the case, but no field.
    assert_eq!(
        plan.cases[0].values[0],
        ("frame".to_owned(), "64 B".to_owned())
    );
    let scenario = plan.scenario_of(&plan.cases[1]).unwrap();
    assert_eq!(scenario.applications[0].cycle.0, 2_000_000_000);
}

#[test]
fn sweeps_of_the_scenario_are_cases_unless_the_campaign_sweeps_the_field() {
    let sweep =
        "[[sweeps]]\nparameter = \"applications.control.cycle\"\nvalues = [\"1 ms\", \"2 ms\"]\n";
    let pcp = "[[sweeps]]\nparameter = \"applications.control.pcp\"\nvalues = [1, 2]\n";
    let folder = Folder::new(&format!(
        "{HEAD}[[sweeps]]\nfield = \"applications.control.cycle\"\nvalues = [\"3 ms\"]\n"
    ));
    folder.write("plant.toml", &format!("{SCENARIO}{sweep}{pcp}"));
    let settings: Vec<_> = folder
        .plan()
        .unwrap()
        .cases
        .into_iter()
        .map(|it| it.settings)
        .collect();
    assert_eq!(shown(&settings), ["cycle=3 ms pcp=1", "cycle=3 ms pcp=2"]);
}

#[test]
fn an_id_stays_when_a_campaign_grows() {
    let of = |values: &str| {
        let sweep =
            format!("[[sweeps]]\nfield = \"applications.control.pcp\"\nvalues = {values}\n");
        let plan = Folder::new(&format!("{HEAD}{sweep}")).plan().unwrap();
        plan.cases
            .into_iter()
            .map(|case| case.id)
            .collect::<Vec<_>>()
    };
    let (two, three) = (of("[1, 2]"), of("[0, 1, 2]"));
    assert_eq!(two, three[1..]);
    assert_ne!(two[0], two[1]);
}

/// Returns the first mistake in the file of a campaign.
fn mistake(text: &str) -> String {
    let error = Folder::new(&format!("{HEAD}{text}")).plan().unwrap_err();
    let CampaignPlanError::Campaign { error, .. } = error else {
        panic!("{error}");
    };
    error.mistakes[0].to_string()
}

#[test]
fn mistakes_have_their_places() {
    let sweep = |field: &str, values: &str| {
        mistake(&format!(
            "[[sweeps]]\nfield = \"{field}\"\nvalues = {values}\n"
        ))
    };
    let is = |found: String, parts: &[&str]| {
        assert!(parts.iter().all(|part| found.contains(part)), "{found}");
    };
    is(
        mistake("repetition = 3"),
        &[
            "line 3, column 1",
            "`repetition` is not a field",
            "did you mean `repetitions`?",
        ],
    );
    is(
        sweep("aplications.control.pcp", "[1]"),
        &[
            "line 4, column 9",
            "in plant.toml",
            "did you mean `applications`?",
        ],
    );
    is(
        sweep("applications.drive.pcp", "[1]"),
        &["line 4", "there is no `drive`"],
    );
    is(
        sweep("applications.control.pcp", "[]"),
        &["line 5", "a sweep needs values"],
    );
    is(
        sweep("applications.control.pcp", "[1, 2, 1]"),
        &["line 5, column 17", "`1` occurs twice"],
    );
    is(sweep("version", "[1]"), &["line 4", "cannot be swept"]);
    is(
        sweep("sweeps.0.values", "[1]"),
        &["line 4", "cannot be swept"],
    );
    is(
        sweep("applications.control.pcp", "[[1]]"),
        &["line 5", "not a list"],
    );
    is(
        mistake(
            "[[sweeps]]\nfield = \"name\"\nvalues = [\"a\"]\n[[sweeps]]\nfield = \"name\"\nvalues = [\"b\"]\n",
        ),
        &["line 7", "`name` has values already"],
    );
    // Another path to the same field.
    is(
        mistake(
            "[[sweeps]]\nfield = \"applications.0.pcp\"\nvalues = [1]\n[[sweeps]]\n\
             field = \"applications.control.pcp\"\nvalues = [2]\n",
        ),
        &["in plant.toml", "given twice"],
    );
    is(
        mistake("[[sweeps]]\nfields = [\"name\", \"description\"]\nvalues = [[\"a\"]]\n"),
        &["line 5", "a list of 2 values"],
    );
    is(
        mistake("[[sweeps]]\nvalues = [1]\n"),
        &["line 3", "`field`, `fields` and `variable`"],
    );
    is(
        mistake("[[derived]]\nfield = \"name\"\nof = \"frame\"\nplus = \"1\"\n"),
        &["line 5, column 6", "there is no value of `frame`"],
    );
    is(
        mistake(
            "[[sweeps]]\nvariable = \"frame\"\nvalues = [\"20 B\"]\n[[derived]]\n\
             field = \"applications.control.payload\"\nof = \"frame\"\nplus = \"-22 B\"\n",
        ),
        &["line 7", "has no value", "negative"],
    );
    is(
        mistake("repetitions = 3\n[stop]\nquantity = \"x\"\ninterval = \"1%\"\n"),
        &["line 4", "no effect"],
    );
    is(mistake("order_seed = 3\n"), &["line 3", "random"]);
    is(
        mistake("name = \"a\\u001bb\"\n"),
        &["line 3", "must not contain the character"],
    );
    is(
        mistake("repetitions = 1000000\nbackends = [\"simulate\", \"bounds\"]\n"),
        &["at most 1000000"],
    );
    let absent = Folder::new("version = 1\nscenarios = [\"absent.toml\"]\n")
        .plan()
        .unwrap_err();
    is(
        absent.to_string(),
        &["line 2, column 14", "cannot read", "absent.toml"],
    );
    let empty = Folder::new("version = 1\nscenarios = []\n")
        .plan()
        .unwrap_err();
    is(empty.to_string(), &["line 2", "needs scenarios"]);
}

/// A value that the scenario refuses is shown in the scenario, with the values of the case.
#[test]
fn a_wrong_value_is_shown_in_the_scenario() {
    let campaign =
        format!("{HEAD}[[sweeps]]\nfield = \"topology.kind\"\nvalues = [\"bridged\", \"rng\"]\n");
    let error = Folder::new(&campaign).plan().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`rng` is not one of"), "{text}");
    assert!(text.contains("with topology.kind = rng"), "{text}");
}

#[test]
fn a_case_that_exists_already_is_refused() {
    let folder = Folder::new(HEAD);
    let sweep = "[[sweeps]]\nparameter = \"applications.control.payload\"\n\
                 values = [\"64 B\", \"100 B\", \"64 B\"]\n";
    folder.write("plant.toml", &format!("{SCENARIO}{sweep}"));
    let error = folder.plan().unwrap_err();
    let text = error.to_string();
    let CampaignPlanError::CaseTwice { scenario, case, .. } = error else {
        panic!("{text}");
    };
    assert_eq!((scenario.as_str(), case.len()), ("plant.toml", 16));
    let end = "twice, with applications.control.payload = 64 B";
    assert!(text.contains(&case) && text.ends_with(end), "{text}");
}

#[test]
fn a_bound_is_one_row_of_the_limit() {
    let both = "backends = [\"simulate\", \"bounds\"]\n";
    let plan = |backends: &str, repetitions: u32| {
        Folder::new(&format!("{HEAD}repetitions = {repetitions}\n{backends}")).plan()
    };
    let most = plan(both, 999_999).unwrap();
    assert_eq!(most.most_rows(), 1_000_000);
    let error = plan(both, 1_000_000).unwrap_err().to_string();
    assert!(error.contains("at least 1000001 rows"), "{error}");
    let mut simulated = plan("backends = [\"simulate\"]\n", 1_000_000).unwrap();
    let backends = most.backends().to_vec();
    let error = simulated.set_backends(backends).unwrap_err().to_string();
    assert!(error.contains("at least 1000001 rows"), "{error}");
}

#[test]
fn a_sweep_of_one_scenario_does_not_count_for_the_others() {
    let two = HEAD.replace("]", ", \"other.toml\"]");
    let folder = Folder::new(&format!("{two}repetitions = 300000\n"));
    folder.write("other.toml", SCENARIO);
    let sweep = "[[sweeps]]\nparameter = \"applications.control.pcp\"\nvalues = [1, 2]\n";
    folder.write("plant.toml", &format!("{SCENARIO}{sweep}"));
    assert_eq!(folder.plan().unwrap().most_rows(), 900_000);
}
