//! The time line for spreadsheets.

use std::io::Write;

use super::load::RunLog;

/// Writes the time line: one row per sample, sessions one after the other. What was not read is an empty field.
pub fn write_timeline_csv(run: &RunLog, output: impl Write) -> csv::Result<()> {
    let mut writer = csv::WriterBuilder::new().flexible(false).from_writer(output);
    let mut power: Vec<String> = Vec::new();
    let mut temperatures: Vec<String> = Vec::new();
    let mut clocks: Vec<String> = Vec::new();
    let keep = |names: &mut Vec<String>, name: String| {
        if !names.contains(&name) {
            names.push(name);
        }
    };
    // Sessions on the same machine have the same columns; what one of them lacks is empty there.
    for began in &run.measured.began {
        for source in &began.sources {
            source
                .channels
                .iter()
                .for_each(|channel| keep(&mut power, format!("{}:{}", source.id, channel.name)));
        }
        began.temperatures.iter().for_each(|name| keep(&mut temperatures, name.clone()));
        began.clocks.iter().for_each(|name| keep(&mut clocks, name.clone()));
    }
    let mut headings: Vec<String> = ["session", "mono_s", "wall_unix_s"].map(str::to_owned).to_vec();
    headings.extend(power.iter().map(|name| format!("{name} W")));
    headings.extend(temperatures.iter().map(|name| format!("{name} C")));
    headings.extend(clocks.iter().map(|name| format!("{name} MHz")));
    let rest = [
        "available_mib",
        "own_load",
        "other_load",
        "throttle_word",
        "throttle_events",
        "battery_percent",
        "worker_private_mib",
        "worker_file_mib",
    ];
    headings.extend(rest.map(str::to_owned));
    writer.write_record(&headings)?;
    for (session, row) in &run.measured.timeline {
        let Some(began) = session.checked_sub(1).and_then(|index| run.measured.began.get(index)) else {
            continue;
        };
        let own: Vec<String> = began
            .sources
            .iter()
            .flat_map(|source| {
                source.channels.iter().map(|channel| format!("{}:{}", source.id, channel.name))
            })
            .collect();
        let pick = |names: &[String], own: &[String], values: &[Option<i64>], unit: f64| -> Vec<String> {
            let value = |name: &String| {
                let place = own.iter().position(|known| known == name)?;
                values.get(place).copied().flatten().map(|value| (value as f64 / unit).to_string())
            };
            names.iter().map(|name| value(name).unwrap_or_default()).collect()
        };
        let mut fields = vec![
            session.to_string(),
            (row.at.mono_us as f64 / 1e6).to_string(),
            (row.at.wall_us as f64 / 1e6).to_string(),
        ];
        fields.extend(pick(&power, &own, &row.power_uw, 1e6));
        fields.extend(pick(&temperatures, &began.temperatures, &row.temperature_mc, 1e3));
        fields.extend(pick(&clocks, &began.clocks, &row.clock_khz, 1e3));
        let part = |value: Option<i64>, unit: f64| {
            value.map_or(String::new(), |value| (value as f64 / unit).to_string())
        };
        fields.push(row.available_bytes.map_or(String::new(), |bytes| (bytes >> 20).to_string()));
        fields.extend([part(row.own_permille, 1e3), part(row.others_permille, 1e3)]);
        fields.push(row.pi_flags.map_or(String::new(), |flags| format!("{flags:#x}")));
        fields.extend([part(row.events, 1.0), part(row.battery_percent, 1.0)]);
        let mib = |bytes: Option<i64>| bytes.map_or(String::new(), |bytes| (bytes >> 20).to_string());
        fields.extend([mib(row.worker_private_bytes), mib(row.worker_file_bytes)]);
        writer.write_record(&fields)?;
    }
    writer.flush()?;
    Ok(())
}
