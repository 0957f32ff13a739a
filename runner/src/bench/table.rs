//! The figures as a Markdown table, which a terminal shows well enough.

use super::Row;

/// Renders rows; what is not measured is left out.
pub fn markdown(rows: &[Row]) -> String {
    let headings = ["model", "size", "threads", "test", "tokens/s", "+-", "median", "note"];
    let mut table: Vec<[String; 8]> = vec![headings.map(String::from)];
    table.extend(rows.iter().map(|row| cells(row, rows)));
    let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    // Words to the left, numbers to the right.
    let right = [false, true, true, false, true, true, true, false];
    let mut text = String::new();
    for (place, row) in table.iter().enumerate() {
        text.push('|');
        for (column, cell) in row.iter().enumerate() {
            let fill = " ".repeat(widths[column] - cell.chars().count());
            let (before, after) = if right[column] { (fill.as_str(), "") } else { ("", fill.as_str()) };
            text.push_str(&format!(" {before}{cell}{after} |"));
        }
        text.push('\n');
        if place == 0 {
            let rules = widths
                .iter()
                .zip(right)
                .map(|(width, right)| format!("{}{}|", "-".repeat(width + 1), if right { ":" } else { "-" }));
            text.push_str(&format!("|{}\n", rules.collect::<String>()));
        }
    }
    text
}

fn cells(row: &Row, all: &[Row]) -> [String; 8] {
    let name = std::path::Path::new(&row.model_filename).file_name().unwrap_or_default();
    let model = match row.model_type.is_empty() {
        true => name.to_string_lossy().into_owned(),
        false => row.model_type.clone(),
    };
    let threads = match (row.n_threads, row.n_threads_batch) {
        (0, 0) => String::new(),
        (a, b) if a == b => a.to_string(),
        (a, b) => format!("{a}/{b}"),
    };
    let size =
        if row.model_size == 0 { String::new() } else { format!("{:.0} MB", row.model_size as f64 / 1e6) };
    let test = if row.test.is_empty() { row.kind.to_owned() } else { row.test.clone() };
    if let Some(error) = &row.error {
        let note = clean(&format!("failed: {error}"));
        return [model, size, threads, test, String::new(), String::new(), String::new(), note];
    }
    // A time is not a rate.
    let rates = match row.kind {
        "first-token" => [const { String::new() }; 3],
        _ => [row.avg_ts, row.stddev_ts, row.median_ts].map(|rate| format!("{rate:.2}")),
    };
    let [mean, spread, middle] = rates;
    [clean(&model), size, threads, test, mean, spread, middle, note(row, all)]
}

/// What tokens per second do not tell.
fn note(row: &Row, all: &[Row]) -> String {
    if let Some(scoring) = &row.scoring {
        let alone = all.iter().filter(|other| other.model_filename == row.model_filename).find_map(|other| {
            other.scoring.as_ref().filter(|other| other.mode == "exact" && scoring.mode != "exact")
        });
        let ratio = alone.map_or(String::new(), |alone| {
            format!(", {:.1}x exact", scoring.answers_per_s / alone.answers_per_s)
        });
        return format!(
            "{} answers, {:.1}/s{ratio}; {} tokens, {} evaluated",
            scoring.answers, scoring.answers_per_s, scoring.prompt_tokens, scoring.evaluated_tokens
        );
    }
    match row.kind {
        "first-token" => {
            let ms = |ns: u64| ns as f64 / 1e6;
            format!("{:.1} ms +- {:.1} after {} tokens", ms(row.avg_ns), ms(row.stddev_ns), row.n_prompt)
        }
        "parallel" => match all.iter().find(|other| {
            other.kind == "parallel" && other.n_parallel == 1 && other.model_filename == row.model_filename
        }) {
            Some(one) if row.n_parallel > 1 => format!("{:.2}x one", row.median_ts / one.median_ts),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

/// Names and messages come from files: they can neither break the table nor write to the terminal.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect::<String>().replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_a_failed_model_is_a_row() {
        let good =
            Row { test: "pp512".into(), kind: "speed", n_threads: 2, n_threads_batch: 2, ..Row::default() };
        let rows = [good.timed(&[500_000], 100), Row::failed("dir/bad|.gguf", "no\u{7} such file".into())];
        let text = markdown(&rows);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines.iter().all(|line| line.chars().count() == lines[0].chars().count()), "{text}");
        assert!(lines[2].contains("| pp512 |") && lines[2].contains("| 200.00 |"), "{text}");
        assert!(lines[3].contains("failed: no\u{fffd} such file"), "{text}");
    }
}
