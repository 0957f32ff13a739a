//! The text of a template before it is compiled: which language it is in, and tags that mean nothing here.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::error::TemplateError;

/// Largest template; real ones stay under 100 KB.
const TEMPLATE_BYTES: usize = 1 << 20;

/// The text of a template file.
pub(crate) fn read(path: &Path) -> Result<String, TemplateError> {
    let fail = |reason| TemplateError::File { path: path.display().to_string(), reason };
    let file = File::open(path).map_err(|error| fail(error.to_string()))?;
    let mut bytes = Vec::new();
    // One byte more than is allowed, so that `prepare` refuses what is too large.
    file.take(TEMPLATE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(|error| fail(error.to_string()))?;
    String::from_utf8(bytes)
        .map_err(|error| fail(format!("byte {} is not UTF-8", error.utf8_error().valid_up_to())))
}

/// Gives the text to compile, of the same length and the same lines as the original.
pub(crate) fn prepare(source_name: &str, text: &str) -> Result<String, TemplateError> {
    if text.len() > TEMPLATE_BYTES {
        let source_name = source_name.to_owned();
        return Err(TemplateError::TooLarge { source_name, bytes: text.len(), limit: TEMPLATE_BYTES });
    }
    if is_go(text) {
        return Err(TemplateError::Go { source_name: source_name.to_owned() });
    }
    Ok(hide_training_tags(text))
}

/// Go templates write statements inside the expression braces and fields with a leading dot; Jinja does neither.
fn is_go(text: &str) -> bool {
    const STATEMENTS: [&str; 6] = ["if ", "range ", "with ", "template ", "define ", "block "];
    let expressions =
        text.split("{{").skip(1).map(|rest| rest.strip_prefix('-').unwrap_or(rest).trim_start());
    !text.contains("{%")
        && expressions.into_iter().any(|rest| {
            let field =
                rest.strip_prefix('.').is_some_and(|name| !name.starts_with(|c: char| c.is_ascii_digit()));
            field || STATEMENTS.iter().any(|word| rest.starts_with(word))
        })
}

/// `{% generation %}` marks what a model is trained on and renders as nothing. It becomes a comment of the same
/// length: whitespace control works on comments as on statements, and positions in messages stay right.
fn hide_training_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{%") {
        out.push_str(&rest[..start]);
        let tag = &rest[start..];
        // Behind the opening mark: in `{%}` the marks would share a character.
        let Some(length) = tag[2..].find("%}") else {
            out.push_str(tag);
            return out;
        };
        let end = 2 + length;
        let inner = &tag[2..end];
        let name = inner.trim_matches(['-', '+']).trim();
        if matches!(name, "generation" | "endgeneration") {
            out.push_str("{#");
            out.push_str(inner);
            out.push_str("#}");
        } else {
            out.push_str(&tag[..end + 2]);
        }
        rest = &tag[end + 2..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_templates_are_told_from_jinja() {
        let go = [
            "{{- if .System }}{{ .System }}{{ end }}{{ .Prompt }}",
            "{{ .Prompt }}",
            "{{ range .Messages }}x{{ end }}",
        ];
        assert!(go.iter().all(|text| is_go(text)));
        let jinja = [
            "{{ messages[0].content }}",
            "{% if x %}{{ end }}{% endif %}",
            "{{ 'a' if x else 'b' }}",
            "{{ bos_token }}",
        ];
        assert!(!jinja.iter().any(|text| is_go(text)));
    }

    #[test]
    fn training_tags_become_comments_of_the_same_length() {
        let text = "{% if a %}{%- generation -%}x{% endgeneration %}{% endif %}";
        let hidden = hide_training_tags(text);
        assert_eq!(hidden, "{% if a %}{#- generation -#}x{# endgeneration #}{% endif %}");
        for (text, hidden) in [
            ("{%}", "{%}"),
            ("{%%}", "{%%}"),
            ("{%}x{% generation %}", "{%}x{% generation %}"),
            ("é{%", "é{%"),
        ] {
            assert_eq!(hide_training_tags(text), hidden);
        }
    }
}
