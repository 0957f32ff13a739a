//! Templates that mean harm: none hangs, none takes the memory, each is stopped by name.

use std::time::{Duration, Instant};

use super::*;

/// The limit that stops a template, and that it does so in bounded time.
fn stopped(template: &str) -> String {
    let start = Instant::now();
    let error = renderer(template).expect_err("a hostile template");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    let text = error.to_string();
    assert!(text.lines().count() == 1 && text.contains("m.gguf"), "{text}");
    text
}

#[test]
fn endless_loops_run_out_of_steps() {
    let loops = "{% for a in range(100000) %}{% for b in range(100000) %}{% set x = 1 %}{% endfor %}{% endfor %}{{ messages[0].content }}";
    assert!(stopped(loops).contains("steps"));
    let recursion = "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}";
    stopped(recursion);
}

#[test]
fn text_that_doubles_is_stopped() {
    let doubling = "{% set n = namespace(a='x') %}{% for i in range(60) %}{% set n.a = n.a ~ n.a %}{% endfor %}{{ n.a }}";
    assert!(stopped(doubling).contains("steps"));
    let repeated = "{{ 'x' * 1000000000 }}";
    assert!(stopped(repeated).contains("steps"));
    let written = format!("{{% for i in range(2000) %}}{}{{% endfor %}}", "y".repeat(1000));
    assert!(stopped(&written).contains("writes more than"));
}

#[test]
fn values_that_share_their_parts_are_stopped_when_written() {
    let shared =
        "{% set n = namespace(a=[1]) %}{% for i in range(50) %}{% set n.a = [n.a, n.a] %}{% endfor %}";
    for end in
        ["{{ n.a }}", "{{ n.a | tojson }}", "{{ n.a | string }}", "{{ n.a | join }}", "{{ ''.join(n.a) }}"]
    {
        stopped(&format!("{shared}{end}"));
    }
}

#[test]
fn containers_that_are_taken_as_texts_are_paid_for() {
    let shared =
        "{% set n = namespace(a=[1]) %}{% for i in range(60) %}{% set n.a = [n.a, n.a] %}{% endfor %}";
    for end in [
        "n.a | upper",
        "n.a | capitalize",
        "n.a | title",
        "n.a | lower",
        "n.a | trim",
        "n.a | e",
        "n.a | split('x')",
        "n.a | replace('1', '2')",
        "'a' | replace('a', n.a)",
        "'%s' | format(n.a)",
        "'{}'.format(n.a)",
        "'{a}'.format(a=n.a)",
        "raise_exception(n.a)",
    ] {
        let text = stopped(&format!("{shared}{{{{ {end} }}}}"));
        assert!(text.contains("too many steps"), "{end}: {text}");
    }
}

#[test]
fn formats_pay_for_the_room_that_they_ask_for() {
    for wide in ["'{:>1000000000}'.format(1)", "'{:.1000000000f}'.format(1.5)"] {
        let text = stopped(&format!("{{{{ {wide} }}}}{{{{ messages[0].content }}}}"));
        assert!(text.contains("more than 4 digits"), "{text}");
    }
    let many = "{% set a = 'x' * 1000000 %}{{ ('{0}' * 1000).format(a) }}{{ messages[0].content }}";
    assert!(stopped(many).contains("too many steps"));
    let plain = sound("{{ '{:>4}|{}|{x[0]}'.format(7, [1], x='ab') }}{{ messages[0].content }}");
    assert_eq!(text_of(&plain, &question("Q")), "   7|[1]|aQ");
}

/// A template that nests a value in itself `depth` thousand times.
fn nested(name: &str, depth: usize) -> String {
    let step = format!("{{% set {name}.a = [{name}.a] %}}");
    format!(
        "{{% set {name} = namespace(a=[]) %}}{{% for i in range({depth}) %}}{{% for j in range(1000) %}}{step}{{% endfor %}}{{% endfor %}}"
    )
}

#[test]
fn values_nested_deeply_are_used_and_let_go_without_a_crash() {
    assert!(stopped(&nested("n", 1000)).contains("steps"));
    // As deep as the largest budget goes, in use: written, compared.
    let (n, m) = (nested("n", 40), nested("m", 20));
    for template in [
        nested("n", 1000),
        format!("{n}{{{{ 'x' ~ n.a }}}}"),
        format!("{}{m}{{{{ m.a == n.a }}}}", nested("n", 20)),
    ] {
        let sandbox = Sandbox::new("m.gguf", &template).expect("it parses");
        let variables = Value::from_pairs([("messages", Value::from(()))]);
        let outcome = sandbox.render(Task { variables, turns: 10_000, bytes: 1 << 20 });
        assert!(matches!(outcome, Ok(_) | Err(TemplateError::Limit { .. })), "{outcome:?}");
    }
    let long = format!("{{{{ {}1{} }}}}", "(".repeat(5000), ")".repeat(5000));
    stopped(&long);
}

#[test]
fn comparing_shared_parts_runs_into_the_time_limit() {
    let build = |name: &str| {
        format!(
            "{{% set {name} = namespace(a=[1]) %}}{{% for i in range(60) %}}{{% set {name}.a = [{name}.a, {name}.a] %}}{{% endfor %}}"
        )
    };
    let compare = format!("{}{}{{% if m.a == n.a %}}x{{% endif %}}", build("m"), build("n"));
    assert!(stopped(&compare).contains("more than 2 s"));
}

#[test]
fn every_prefix_of_a_template_is_an_error_or_a_template_and_never_a_panic() {
    let text = include_str!("../../../tests/templates/thinking.jinja");
    for end in (0..text.len()).step_by(41).filter(|&end| text.is_char_boundary(end)) {
        match renderer(&text[..end]) {
            Ok(sound) => assert!(text_of(&sound, &question("Q")).contains('Q')),
            Err(error) => assert_eq!(error.to_string().lines().count(), 1),
        }
    }
}
