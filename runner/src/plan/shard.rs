//! A part of a run: every so-many-th group, so that several machines share one plan.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Part `index` (from 1) of `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Which part, from 1.
    pub index: u32,
    /// Of how many.
    pub of: u32,
}

/// Gives the value of an environment variable.
type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Shard {
    /// Whether a group belongs to the part. Neighbours go to different parts, so that every part has some of each task.
    pub fn has(self, group: u32) -> bool {
        group % self.of == self.index - 1
    }

    /// How many of `groups` groups belong to the part.
    pub fn share(self, groups: u32) -> u32 {
        (groups + self.of - self.index) / self.of
    }

    /// What was asked for: `2/4`, or `auto` for the part that a job array gives this process: Slurm's
    /// `SLURM_ARRAY_TASK_*`, or `JOB_COMPLETION_INDEX` of an indexed Kubernetes job, which does not tell how many parts
    /// there are: its manifest must set `JOB_COMPLETIONS` to the number of completions.
    pub fn find(text: &str, environment: Environment<'_>) -> Result<Shard, String> {
        if text != "auto" {
            return text.parse();
        }
        let number = |name: &str| {
            environment(name)
                .map(|value| {
                    value
                        .trim()
                        .parse::<u32>()
                        .map_err(|_| format!("{name} is {value:?}: a number was expected"))
                })
                .transpose()
        };
        if let Some(task) = number("SLURM_ARRAY_TASK_ID")? {
            let first = number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(0);
            let last = number("SLURM_ARRAY_TASK_MAX")?;
            let of = number("SLURM_ARRAY_TASK_COUNT")?;
            let (Some(last), Some(of)) = (last, of) else {
                return Err(
                    "SLURM_ARRAY_TASK_ID is set, but not SLURM_ARRAY_TASK_COUNT and _MAX: give --shard i/n"
                        .into(),
                );
            };
            if last.checked_sub(first).is_none_or(|span| span.checked_add(1) != Some(of)) {
                return Err(format!(
                    "the job array counts {of} tasks from {first} to {last}: --shard auto needs a step of 1; give --shard i/n"
                ));
            }
            return Shard::new(task.saturating_sub(first).saturating_add(1), of);
        }
        if let Some(index) = number("JOB_COMPLETION_INDEX")? {
            let of = number("JOB_COMPLETIONS")?.ok_or(
                "JOB_COMPLETION_INDEX is set, but not JOB_COMPLETIONS: set it to the job's number of completions, or give --shard i/n",
            )?;
            return Shard::new(index.saturating_add(1), of);
        }
        Err("--shard auto: no job array is known here (neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set): give --shard i/n".into())
    }

    fn new(index: u32, of: u32) -> Result<Shard, String> {
        match (1..=of).contains(&index) {
            true => Ok(Shard { index, of }),
            false => Err(format!("shard {index}/{of}: give i/n with i from 1 to n, as in 2/4")),
        }
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').map(|(index, of)| (index.trim().parse(), of.trim().parse()));
        match numbers {
            Some((Ok(index), Ok(of))) => Shard::new(index, of),
            _ => Err(format!("shard {text:?}: give i/n with i from 1 to n, as in 2/4, or auto")),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(set: &[(&str, &str)]) -> Result<Shard, String> {
        let value =
            |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Shard::find("auto", &value)
    }

    #[test]
    fn every_group_is_in_one_part() {
        for groups in 0..20 {
            for of in 1..7 {
                let parts: Vec<Shard> = (1..=of).map(|index| Shard { index, of }).collect();
                for group in 0..groups {
                    assert_eq!(parts.iter().filter(|part| part.has(group)).count(), 1);
                }
                for part in parts {
                    assert_eq!(
                        part.share(groups) as usize,
                        (0..groups).filter(|&group| part.has(group)).count()
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_no_part_is_refused_with_the_form() {
        assert_eq!("2/4".parse(), Ok(Shard { index: 2, of: 4 }));
        for wrong in ["0/4", "5/4", "2", "2/0", "/", "a/b", "-1/4", "4294967296/4"] {
            let error = wrong.parse::<Shard>().expect_err(wrong);
            assert!(error.contains("2/4"), "{error}");
        }
    }

    #[test]
    fn job_arrays_are_understood() {
        let slurm = |id, min, max, count| {
            auto(&[
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_MIN", min),
                ("SLURM_ARRAY_TASK_MAX", max),
                ("SLURM_ARRAY_TASK_COUNT", count),
            ])
        };
        assert_eq!(slurm("0", "0", "3", "4"), Ok(Shard { index: 1, of: 4 }));
        assert_eq!(slurm("4", "1", "4", "4"), Ok(Shard { index: 4, of: 4 }));
        assert!(slurm("4", "0", "8", "3").is_err_and(|error| error.contains("step")), "--array=0-8:4");
        assert!(auto(&[("SLURM_ARRAY_TASK_ID", "1")]).is_err_and(|error| error.contains("COUNT")));
        let pod = |index| auto(&[("JOB_COMPLETION_INDEX", index), ("JOB_COMPLETIONS", "3")]);
        assert_eq!(pod("2"), Ok(Shard { index: 3, of: 3 }));
        assert!(pod("3").is_err());
        assert!(pod("x").is_err_and(|error| error.contains("JOB_COMPLETION_INDEX")));
        assert!(auto(&[("JOB_COMPLETION_INDEX", "0")]).is_err_and(|error| error.contains("JOB_COMPLETIONS")));
        assert!(auto(&[]).is_err_and(|error| error.contains("--shard i/n")));
    }
}
