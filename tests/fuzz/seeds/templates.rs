//! Templates: the fixtures of the renderer, the expressions of its tests, and hostile ones that steps stop.

const FIXTURES: &[&str] = &[
    include_str!("../../../models/tests/templates/alternating.jinja"),
    include_str!("../../../models/tests/templates/always_thinking.jinja"),
    include_str!("../../../models/tests/templates/brackets.jinja"),
    include_str!("../../../models/tests/templates/chatml.jinja"),
    include_str!("../../../models/tests/templates/headers.jinja"),
    include_str!("../../../models/tests/templates/phi.jinja"),
    include_str!("../../../models/tests/templates/thinking.jinja"),
    include_str!("../../../models/tests/templates/zephyr.jinja"),
];

const SOURCES: &[&str] = &[
    include_str!("../../../models/src/template/tests/families.rs"),
    include_str!("../../../models/src/template/tests/python.rs"),
    include_str!("../../../models/src/template/tests.rs"),
];

const HOSTILE: &[&str] = &[
    "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
    "{% set n = namespace(a='x') %}{% for i in range(60) %}{% set n.a = n.a ~ n.a %}{% endfor %}{{ n.a }}",
    "{% set n = namespace(a=[1]) %}{% for i in range(50) %}{% set n.a = [n.a, n.a] %}{% endfor %}{{ n.a | tojson }}",
    "{{ ''.join(messages | map(attribute='content')) }}{{ 'x' * 1000000000 }}",
    "{{ messages[0].content.split('\u{662f}') | sort | unique | reverse | list | batch(2) | list }}",
    "{{ messages | groupby('role') | dictsort | tojson(indent=2) }}{{ messages[-1]['content'][::-1] }}",
    "{{ messages[0].content | replace('a', 'b') | title | trim | indent(4) | urlencode }}",
];

pub(crate) fn all() -> Vec<Vec<u8>> {
    let lines = include_str!("../../../models/tests/templates/expressions.jsonl").lines();
    let expressions = lines.flat_map(crate::literals::literals).filter(|text| text.contains('{'));
    let literals = SOURCES.iter().flat_map(|source| crate::literals::literals(source));
    let templates = FIXTURES.iter().chain(HOSTILE).map(|&text| text.to_owned());
    let all = templates
        .chain(expressions)
        .chain(literals.filter(|text| text.contains("{{") || text.contains("{%")));
    let seed = |(number, text): (usize, String)| {
        let mut bytes = vec![(number % 64) as u8];
        bytes.extend(text.into_bytes());
        bytes.extend(b"\0\0Which one? <|im_end|>\0A\0And now?");
        bytes
    };
    all.enumerate().map(seed).collect()
}
