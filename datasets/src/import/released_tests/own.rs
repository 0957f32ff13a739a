//! Tables and folders of one's own, with pictures.

use super::*;

#[test]
fn tables_name_pictures_by_path_list_and_text() {
    let items = sound("file", "path = 'd/table.jsonl'\n[import]\nimages = 'shown'");
    let mut files = samples();
    let shown: Vec<Vec<[u8; 3]>> = items.iter().map(|item| colours(item, &mut files)).collect();
    assert_eq!(shown, [vec![RED], vec![RED, GREEN], vec![BLUE], vec![]]);
    assert_eq!(text(&items[1]), "[]\n[]\nAre both the same colour?\nA. Yes\nB. No");
    let (left, notes) = made("file", "path = 'd/table.jsonl'", &mut samples()).unwrap();
    assert_eq!(ids(&left), ["p4"]);
    assert!(notes[0].contains("3 that need an image left out"), "{}", notes[0]);
    for (from, to, words) in [
        (
            "ai2d/images/10.png\"}",
            "ai2d/images/11.png\"}",
            "line 1 (id p1): d/ai2d/images/11.png: no such file",
        ),
        (
            "ai2d/images/10.png\"}",
            "/etc/passwd.png\"}",
            "line 1 (id p1): the image path `/etc/passwd.png` leads out",
        ),
        ("ai2d/images/10.png\"}", "README.md\"}", "line 1 (id p1): d/README.md: of a kind that is not known"),
        ("base64,iVBO", "base64,!VBO", "line 3: the image is no base64"),
        ("base64,iVBO", "base64,AVBO", "line 3: the image: of a kind that is not known"),
    ] {
        let mut files = edited("d/table.jsonl", from, to);
        let message =
            made("file", "path = 'd/table.jsonl'\n[import]\nimages = 'shown'", &mut files).unwrap_err();
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn faces_of_a_folder_are_shown_with_the_gold_slot_drawn() {
    let (items, notes) = made("faces", "path = 'd/faces'", &mut samples()).unwrap();
    assert_eq!((ids(&items), notes[0].as_str()), (vec!["p1"], "d/faces: 1 problems"));
    let mut files = samples();
    let shown = colours(&items[0], &mut files);
    let gold = usize::from(items[0].first_question().gold.label().unwrap());
    // The query is green, and the right candidate is the green one, wherever it stands.
    assert_eq!((shown.len(), shown[0], shown[1 + gold]), (6, GREEN, GREEN));
    assert_eq!(items[0].tags["gender"], "woman");
    let slots: std::collections::BTreeSet<u16> = (0..40)
        .map(|seed| {
            let task = Task::named("faces").unwrap();
            let params =
                task.resolved(&Params("path = 'd/faces'".parse().unwrap()), &mut files).unwrap().params;
            (task.items)(&params, seed).unwrap()[0].first_question().gold.label().unwrap()
        })
        .collect();
    assert_eq!(slots.len(), 5);
    let sheet = "d/faces/p1/problem.json";
    for (from, to, words) in [
        ("\"gold\": 3", "\"gold\": 6", "gold is 6, not 1 to 5"),
        ("\"5.png\"", "\"4.png\"", "candidates 4 and 5 are the same picture"),
        ("\"5.png\"", "\"../5.png\"", "leads out"),
        ("\"query\": \"query.png\"", "\"query\": \"no.png\"", "d/faces/p1/no.png: no such file"),
    ] {
        let message = made("faces", "path = 'd/faces'", &mut edited(sheet, from, to)).unwrap_err();
        assert!(
            message.starts_with("path: d/faces/p1/problem.json: ") && message.contains(words),
            "{message}"
        );
    }
}
