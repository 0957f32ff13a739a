//! The command line: what was typed. The commands themselves take what was meant.

mod bayes;
mod bench;
mod bundle;
mod carry;
mod choice;
mod compare;
mod doctor;
mod export;
mod list;
mod log;
mod measure;
mod memory;
mod merge;
mod models;
mod pack;
mod plan;
mod power;
mod probe;
mod progress;
mod quantize;
mod regrade;
mod report;
mod run;
mod state;
mod tasks;
mod verify;
mod watch;

use std::path::PathBuf;

use clap::error::ContextKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::exit::{Exit, Failure};
use choice::Choice;

/// The hidden subcommand under which the program is its own worker.
pub const WORKER: &str = "__worker";

/// Which quantised model, prompted how, is good enough on this board?
#[derive(Debug, Parser)]
#[command(name = "edge-eval", version, about, max_term_width = 110, after_help = EXAMPLES, subcommand_required = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  edge-eval run configs/quickstart.toml
  edge-eval run configs/quickstart.toml --model my.gguf --task grammar --limit 44
  edge-eval plan configs/papers.toml --model my.gguf
  edge-eval report runs/quickstart-1a2b3c4d --csv items.csv
  edge-eval models inspect my.gguf
  edge-eval doctor my.gguf
  edge-eval bench my.gguf";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a configuration; into a folder that holds the same run, go on with it
    #[command(after_help = run::HELP)]
    Run(run::Run),
    /// Show what a configuration would ask: items, tokens, longest prompt. Nothing is run
    #[command(after_help = plan::HELP)]
    Plan(plan::PlanCommand),
    /// Examine a model before it is trusted: file, template, label tokens, processor, parity; or the power sensors
    Doctor(doctor::Doctor),
    /// Show live readings of power, temperature and clocks
    Watch(watch::Watch),
    /// Predict the memory that a model takes, and measure it
    #[command(after_help = memory::HELP)]
    Memory(memory::Memory),
    /// Make quantised copies of a model file
    #[command(after_help = quantize::HELP)]
    Quantize(quantize::Quantize),
    /// Measure how fast models run on this machine
    #[command(after_help = bench::HELP)]
    Bench(bench::Bench),
    /// Show the results of a run
    #[command(after_help = report::HELP)]
    Report(report::ReportCommand),
    /// Compare models item by item: runs, or models of one run, the reference first
    #[command(after_help = compare::HELP)]
    Compare(compare::CompareCommand),
    /// Read answers out of hidden states by linear readouts, and repair the model's own
    #[command(after_help = probe::HELP)]
    Probe(probe::ProbeCommand),
    /// Check runs against themselves: frames, hashes, what is there, grades
    Verify(verify::VerifyCommand),
    /// Write a run in a form that other tools read
    Export(export::ExportCommand),
    /// Join logs of one plan: shards, or several machines
    Merge(merge::MergeCommand),
    /// Make one file for field testers: this program with a configuration, its data and weights
    #[command(after_help = pack::HELP)]
    Pack(pack::Pack),
    /// Read and grade the replies of a run again, without the model, and show what changes
    Regrade(regrade::RegradeCommand),
    /// The recursive Bayesian model of who chooses a route for others to see
    #[command(subcommand)]
    Bayes(bayes::Bayes),
    /// Look into the log of a run
    #[command(subcommand)]
    Log(log::LogCommand),
    /// List tasks, interfaces or models
    #[command(subcommand)]
    List(list::List),
    /// Look at model files
    #[command(subcommand)]
    Models(models::Models),
    /// Look at the items of tasks
    #[command(subcommand)]
    Tasks(tasks::Tasks),
    /// Make one file of a program and its workers
    #[command(name = "__carry", hide = true)]
    Carry(carry::Carry),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page (troff)
    Man,
}

/// Runs the command line. `Err` has the message for standard error and the exit code.
pub fn main(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> Result<Exit, Failure> {
    let arguments: Vec<std::ffi::OsString> = arguments.into_iter().collect();
    let own = bundle::Own::find(&arguments)?;
    if let Some(ended) = own.start() {
        return ended;
    }
    let parsed = own.tell(Cli::command()).try_get_matches_from(&arguments);
    let cli = match parsed.and_then(|found| Cli::from_arg_matches(&found)) {
        Ok(cli) => cli,
        Err(mut error) => {
            // What help does not show is no advice.
            if error.get(ContextKind::SuggestedArg).is_some_and(|it| it.to_string().contains("--root")) {
                error.remove(ContextKind::SuggestedArg);
            }
            // Help and version are asked for; everything else is a usage error. Both know where they print to.
            let asked = !error.use_stderr();
            let _ = error.print();
            return Ok(if asked { Exit::Done } else { Exit::Usage });
        }
    };
    match cli.command {
        Command::Run(command) => command.run(),
        Command::Plan(command) => command.run(),
        Command::Doctor(command) => command.run(),
        Command::Watch(command) => command.run(),
        Command::Memory(command) => command.run(),
        Command::Quantize(command) => command.run(),
        Command::Bench(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Compare(command) => command.run(),
        Command::Probe(command) => command.run(),
        Command::Merge(command) => command.run(),
        Command::Verify(command) => command.run(),
        Command::Export(command) => command.run(),
        Command::Pack(command) => command.run(),
        Command::Regrade(command) => command.run(),
        Command::Bayes(command) => command.run(),
        Command::Log(command) => command.run(),
        Command::List(command) => command.run(),
        Command::Models(command) => command.run(),
        Command::Tasks(command) => command.run(),
        Command::Carry(command) => command.run(),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "edge-eval", &mut script);
            print(&String::from_utf8_lossy(&script))
        }
        Command::Man => {
            let mut page = Vec::new();
            manual(&mut page).map_err(|error| Failure::new(Exit::Failed, format!("manual page: {error}")))?;
            print(&String::from_utf8_lossy(&page))
        }
    }
}

/// The manual page: every subcommand in one page, and the exit codes.
fn manual(page: &mut Vec<u8>) -> std::io::Result<()> {
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(page)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let man = clap_mangen::Man::new(sub.clone());
        man.render_name_section(page)?;
        man.render_synopsis_section(page)?;
        man.render_options_section(page)?;
    }
    use std::io::Write;
    writeln!(page, ".SH EXIT STATUS")?;
    for (exit, meaning) in Exit::TABLE {
        writeln!(page, ".TP\n{}\n{meaning}", exit as u8)?;
    }
    Ok(())
}

/// Writes results to standard output. A reader that has seen enough (`| head`) is no failure.
fn print(text: &str) -> Result<Exit, Failure> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(Exit::Done),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(error) => Err(Failure::disk(format!("standard output: {error}"))),
    }
}

/// Writes a line of talk to standard error.
pub(crate) fn talk(line: &str) {
    use std::io::Write;
    // Nobody is left to tell when this fails.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Opens a file for a result, or standard output for `-`.
fn output(path: &PathBuf) -> Result<Box<dyn std::io::Write>, Failure> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(std::io::stdout().lock()));
    }
    let file =
        std::fs::File::create(path).map_err(|error| Failure::disk(format!("{}: {error}", path.display())))?;
    Ok(Box::new(std::io::BufWriter::new(file)))
}
