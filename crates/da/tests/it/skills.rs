//! What agents and shells are given.

use crate::support::Da;

#[test]
fn the_skill_is_installed_once() {
    let da = Da::new("http://none", "x");
    let project = da.home.path().join("project");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("CLAUDE.md"), "# Project\n\nOur rules.\n").unwrap();
    for _ in 0..2 {
        da.ok(&["skills", "install", "--project", "project"]);
    }
    let skill = std::fs::read_to_string(project.join(".claude/skills/da-data-querying/SKILL.md")).unwrap();
    assert!(skill.lines().count() < 200);
    assert_eq!(skill.trim_end(), da.ok(&["skills", "show"]).trim_end());
    let claude = std::fs::read_to_string(project.join("CLAUDE.md")).unwrap();
    assert!(claude.starts_with("# Project\n\nOur rules.\n\n<!-- da: begin"));
    assert_eq!(claude.matches("<!-- da: begin").count(), 1);
    insta::assert_snapshot!(skill);
    assert_eq!(da.run(&["skills", "install", "--project", "nowhere"]).code, 2);
}

#[test]
fn completions_and_man_pages() {
    let da = Da::new("http://none", "x");
    for (shell, mark) in [("bash", "complete -F"), ("zsh", "#compdef da"), ("fish", "complete -c da")] {
        assert!(da.ok(&["completions", shell]).contains(mark), "{shell}");
    }
    assert!(da.ok(&["man"]).contains(".TH da 1"));
    da.ok(&["man", "--dir", "man"]);
    for page in ["da.1", "da-fetch.1", "da-snapshot-prune.1"] {
        let text = std::fs::read_to_string(da.home.path().join("man").join(page)).unwrap();
        assert!(text.contains(".TH"), "{page}");
    }
    insta::assert_snapshot!(da.ok(&["--help"]));
}
