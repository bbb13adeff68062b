//! `takt pubsub config`: converts and checks configuration files.

use std::io;
use std::path::Path;

use serde_json::{Value, json};
use takt_pubsub::check::{ConfigurationMistake, MistakeSeverity, check};
use takt_pubsub::configuration::{
    ConfigurationFile, from_binary_file, from_json, from_toml, to_binary_file, to_toml,
};

use crate::arguments::{CheckArguments, ConfigCommand, ConfigFormat, ConvertArguments};
use crate::input_file::is_standard;
use crate::{explain, input_file, output, output_file};

pub fn run(command: &ConfigCommand) -> miette::Result<()> {
    match command {
        ConfigCommand::Convert(arguments) => convert(arguments),
        ConfigCommand::Check(arguments) => check_file(arguments),
    }
}

fn convert(arguments: &ConvertArguments) -> miette::Result<()> {
    let stdout = is_standard(&arguments.output);
    if stdout && arguments.json {
        return Err(explain::with_help(
            "the standard output cannot have both the file and --json",
            "Name a file as OUTPUT, or leave --json away.",
        ));
    }
    let (file, from) = read(&arguments.input, arguments.from)?;
    let to = match arguments.to.or_else(|| format_of(&arguments.output)) {
        Some(to) => to,
        // The standard output has no extension. A conversion to the format of the input is hardly meant.
        None if stdout && from == ConfigFormat::Toml => ConfigFormat::Binary,
        None if stdout => ConfigFormat::Toml,
        None => {
            return Err(explain::with_help(
                format!("{} has no known extension", arguments.output.display()),
                "Name it .toml, .uabinary or .bin, or use --to toml or --to binary.",
            ));
        }
    };
    let bytes = match to {
        ConfigFormat::Toml => to_toml(&file).map(String::into_bytes).map_err(|error| {
            explain::with_help(
                error,
                "Use --to binary: binary files represent every configuration.",
            )
        })?,
        ConfigFormat::Binary => to_binary_file(&file).map_err(|error| {
            explain::with_help(
                error,
                "Check for texts and arrays that are too long for the binary encoding.",
            )
        })?,
        ConfigFormat::Json => {
            return Err(explain::with_help(
                "configurations are not written in JSON, which loses some values",
                "Use --to toml or --to binary.",
            ));
        }
    };
    if stdout {
        output::bytes(&bytes);
        return Ok(());
    }
    write(&arguments.output, &bytes, arguments.force)?;
    if arguments.json {
        output::line(json!({
            "input": arguments.input.display().to_string(),
            "output": arguments.output.display().to_string(),
            "from": format_name(from),
            "to": format_name(to),
            "bytes": bytes.len(),
        }));
    }
    Ok(())
}

fn format_name(format: ConfigFormat) -> &'static str {
    match format {
        ConfigFormat::Toml => "toml",
        ConfigFormat::Binary => "binary",
        ConfigFormat::Json => "json",
    }
}

fn check_file(arguments: &CheckArguments) -> miette::Result<()> {
    if arguments.json {
        return check_for_programs(arguments);
    }
    let (file, _) = read(&arguments.file, arguments.from)?;
    if check_before_start(&arguments.file, &file)? == 0 {
        output::line("nothing is wrong");
    }
    Ok(())
}

/// Checks a configuration file, and prints all mistakes as one object.
fn check_for_programs(arguments: &CheckArguments) -> miette::Result<()> {
    let name = arguments.file.display().to_string();
    let (file, format) = match read(&arguments.file, arguments.from) {
        Ok(read) => read,
        Err(error) => {
            let mistake = mistake_of(&name, &error);
            output::line(
                json!({"file": name, "format": null, "valid": false, "mistakes": [mistake]}),
            );
            return Err(error);
        }
    };
    let mistakes = check(&file);
    let object = |mistake: &ConfigurationMistake| {
        json!({
            "severity": match mistake.severity {
                MistakeSeverity::Error => "error",
                MistakeSeverity::Warning => "warning",
            },
            "line": null,
            "column": null,
            "table": mistake.table,
            "entry": mistake.entry,
            "key": mistake.key,
            "message": mistake.what,
            "help": mistake.fix,
        })
    };
    let is_error = |mistake: &ConfigurationMistake| mistake.severity == MistakeSeverity::Error;
    output::line(json!({
        "file": name,
        "format": format_name(format),
        "valid": !mistakes.iter().any(is_error),
        "mistakes": mistakes.iter().map(object).collect::<Vec<_>>(),
    }));
    refuse_errors(&arguments.file, mistakes.iter().filter(|it| is_error(it)))
}

/// Returns the reason why a file is no configuration, for programs.
fn mistake_of(name: &str, error: &miette::Report) -> Value {
    let place = explain::place(error);
    let message = error.to_string();
    let message = message
        .strip_prefix(&format!("{name}: "))
        .unwrap_or(&message);
    let begin = place.map(|(line, column)| format!("line {line}, column {column}: "));
    let message = begin
        .and_then(|begin| message.strip_prefix(&begin))
        .unwrap_or(message);
    json!({
        "severity": "error",
        "line": place.map(|(line, _)| line),
        "column": place.map(|(_, column)| column),
        "table": null,
        "entry": null,
        "key": null,
        "message": message,
        "help": error.help().map(|help| help.to_string()),
    })
}

/// Checks a configuration. Warnings are printed; their number is returned.
pub(in crate::commands) fn check_before_start(
    path: &Path,
    file: &ConfigurationFile,
) -> miette::Result<usize> {
    let is_error = |mistake: &ConfigurationMistake| mistake.severity == MistakeSeverity::Error;
    let (errors, warnings): (Vec<_>, Vec<_>) = check(file).into_iter().partition(is_error);
    for warning in &warnings {
        output::warning(format_args!("{}: {warning}", path.display()));
    }
    refuse_errors(path, errors.iter())?;
    Ok(warnings.len())
}

/// Refuses a configuration with errors.
fn refuse_errors<'a>(
    path: &Path,
    errors: impl Iterator<Item = &'a ConfigurationMistake>,
) -> miette::Result<()> {
    let errors: Vec<String> = errors.map(ToString::to_string).collect();
    if errors.is_empty() {
        return Ok(());
    }
    Err(explain::with_help(
        format!("{}:\n{}", path.display(), errors.join("\n")),
        "docs/pubsub.md describes the permitted values of each parameter.",
    ))
}

/// Reads a configuration file, and returns it with its format.
pub(in crate::commands) fn read(
    path: &Path,
    format: Option<ConfigFormat>,
) -> miette::Result<(ConfigurationFile, ConfigFormat)> {
    of_bytes(path, read_bytes(path)?, format)
}

/// Returns the content of a configuration file.
pub(in crate::commands) fn read_bytes(path: &Path) -> miette::Result<Vec<u8>> {
    input_file::read(path).map_err(|error| failed("read", path, &error))
}

/// Returns the configuration of the content of a file, with its format.
pub(in crate::commands) fn of_bytes(
    path: &Path,
    bytes: Vec<u8>,
    format: Option<ConfigFormat>,
) -> miette::Result<(ConfigurationFile, ConfigFormat)> {
    let format = format
        .or_else(|| format_of(path))
        .unwrap_or_else(|| guess(&bytes));
    let name = path.display();
    explain::refuse_foreign(&bytes, &name.to_string(), "a configuration")?;
    let file = match format {
        ConfigFormat::Binary => from_binary_file(&bytes).map_err(|error| {
            explain::with_help(
                format!("{name}: {error}"),
                "Binary files have the format of OPC 10000-14, 9.1.3.7.1, as saved by open62541 and others. Use --from toml \
                 for a text file.",
            )
        })?,
        ConfigFormat::Json => from_json(&bytes).map_err(|error| {
            explain::with_help(
                format!("{name}: {error}"),
                "Files in JSON have the JSON DataEncoding of OPC 10000-6, 5.4. Use --from toml for a TOML file.",
            )
        })?,
        ConfigFormat::Toml => {
            let text = String::from_utf8(bytes).map_err(|error| {
                explain::with_help(
                    format!("{name} is not UTF-8: {error}"),
                    "Use --from binary for a binary file.",
                )
            })?;
            from_toml(&text).map_err(|error| explain::configuration(&name.to_string(), &text, &error))?
        }
    };
    Ok((file, format))
}

fn format_of(path: &Path) -> Option<ConfigFormat> {
    match path.extension()?.to_str()? {
        "toml" => Some(ConfigFormat::Toml),
        "uabinary" | "bin" => Some(ConfigFormat::Binary),
        "json" => Some(ConfigFormat::Json),
        _ => None,
    }
}

/// Guesses the format. The binary file begins with the kind of a NodeId, and no text begins with it. An object of JSON is no TOML.
fn guess(bytes: &[u8]) -> ConfigFormat {
    match bytes.trim_ascii_start().first() {
        Some(0..=3) => ConfigFormat::Binary,
        Some(b'{') => ConfigFormat::Json,
        _ => ConfigFormat::Toml,
    }
}

/// Writes a file. With `force` it may replace another file.
fn write(path: &Path, bytes: &[u8], force: bool) -> miette::Result<()> {
    let written = output_file::write(path, bytes, force);
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => explain::with_help(
            format!("{} exists", path.display()),
            "Use --force to replace it.",
        ),
        _ => failed("write", path, &error),
    })
}

fn failed(what: &str, path: &Path, error: &io::Error) -> miette::Report {
    let name = if is_standard(path) {
        "the standard input or output".to_owned()
    } else {
        path.display().to_string()
    };
    explain::with_help(
        format!("cannot {what} {name}: {error}"),
        "Check the path and the permissions of this user.",
    )
}
