//! Which scripts may be approved, and why the others may not.

use crate::promise;
use domain::{Interpreter, Manifest, Network, Risk, ScriptProposal, Timeout};
use policy::script::{Grants, Report, ScriptPolicy, ScriptSettings};

fn grants() -> Grants {
    Grants {
        network: true,
        capabilities: Vec::new(),
        writable_roots: ["/var", "/etc", "/srv"].map(str::to_owned).to_vec(),
    }
}

/// One line of a case file: `[net]`, `[sh]`, `[w:PATH]`, `[env:NAME=VALUE]`, `[deny:PATH]` and the like, then the script
/// with ⏎ for the ends of its lines.
fn proposal(case: &str) -> ScriptProposal {
    let mut manifest = Manifest::default();
    let mut rest = case;
    while let Some((tag, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        match tag.split_once(':') {
            None if tag == "net" => manifest.network = Network::Host,
            None if tag == "sh" => manifest.interpreter = Interpreter::Sh,
            Some(("deny", _)) => {}
            Some(("w", path)) => manifest.writable_paths.push(path.to_owned()),
            Some(("cap", name)) => manifest.capabilities.push(name.to_owned()),
            Some(("env", pair)) => {
                let (name, value) = pair.split_once('=').unwrap_or((pair, "x"));
                manifest.env.insert(name.to_owned(), value.to_owned());
            }
            Some(("timeout", seconds)) => manifest.timeout_seconds = Timeout(seconds.parse().unwrap()),
            _ => break,
        }
        rest = after;
    }
    let script = rest.replace(" ⏎ ", "\n").replace('⏎', "\n");
    ScriptProposal { script, manifest, rollback: Some("true".to_owned()), intent: "a test".to_owned() }
}

/// What `[deny:PATH]` says.
fn settings(case: &str) -> ScriptSettings {
    let tags = case.split("] ").map_while(|tag| tag.strip_prefix('['));
    let denied = tags.filter_map(|tag| tag.strip_prefix("deny:")).map(str::to_owned);
    ScriptSettings { deny_paths: denied.collect(), ..ScriptSettings::default() }
}

fn review(case: &str) -> Report {
    ScriptPolicy::new(settings(case)).review(&proposal(case), &grants())
}

fn cases(text: &'static str) -> Vec<&'static str> {
    text.lines().filter(|line| !line.is_empty() && (!line.starts_with('#') || line.starts_with("#!"))).collect()
}

fn accepted() -> Vec<&'static str> {
    let files = [
        include_str!("../cases/script/accept/look.txt"),
        include_str!("../cases/script/accept/flow.txt"),
        include_str!("../cases/script/accept/change.txt"),
        include_str!("../cases/script/accept/daily.txt"),
    ];
    files.into_iter().flat_map(cases).collect()
}

fn rejected() -> Vec<(&'static str, &'static str)> {
    let files = [
        include_str!("../cases/script/reject/commands.txt"),
        include_str!("../cases/script/reject/hiding.txt"),
        include_str!("../cases/script/reject/files.txt"),
        include_str!("../cases/script/reject/options.txt"),
        include_str!("../cases/script/reject/attacks.txt"),
        include_str!("../cases/script/reject/sh.txt"),
        include_str!("../cases/script/reject/unseen.txt"),
        include_str!("../cases/script/reject/covered.txt"),
        include_str!("../cases/script/reject/spoken.txt"),
        include_str!("../cases/script/reject/programs.txt"),
    ];
    files
        .into_iter()
        .flat_map(cases)
        .map(|line| line.split_once(" |").unwrap())
        .map(|(code, s)| (code, s.trim()))
        .collect()
}

#[test]
fn useful_scripts_are_accepted() {
    let cases = accepted();
    assert!(cases.len() >= 150, "{}", cases.len());
    let refused: Vec<String> = cases
        .iter()
        .filter_map(|case| Some(format!("{case}\n    {:?}", review(case).violations.first()?.to_string())))
        .collect();
    testkit::tally("policy", "useful scripts accepted", cases.len(), "false refusals", refused.len());
    assert!(refused.is_empty(), "{} of {}:\n{}", refused.len(), cases.len(), refused.join("\n"));
}

#[test]
fn dangerous_scripts_are_refused_for_their_reason() {
    let cases = rejected();
    assert!(cases.len() >= 150, "{}", cases.len());
    let mut wrong = Vec::new();
    let mut passed = 0;
    for (code, case) in &cases {
        let codes: Vec<String> = review(case).violations.into_iter().map(|fault| fault.code).collect();
        passed += usize::from(codes.is_empty());
        if !codes.iter().any(|told| told.strip_prefix("script.") == Some(code)) {
            wrong.push(format!("{code} | {case}\n    told {codes:?}"));
        }
    }
    testkit::tally("policy", "dangerous scripts refused", cases.len(), "passed", passed);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn a_refusal_says_what_and_where_and_how_else() {
    let report = review("uptime ⏎ cat /etc/shadow");
    insta::assert_json_snapshot!(report.violations, @r#"
    [
      {
        "kind": "invalid",
        "code": "script.path_denied",
        "message": "`/etc/shadow` must not be read",
        "hint": "leave it out: nobody may",
        "span": {
          "line": 2,
          "column": 1
        },
        "details": {
          "in": "script"
        }
      }
    ]
    "#);
}

#[test]
fn risk_has_reasons() {
    for (case, risk, reason) in [
        ("df -h", Risk::Low, None),
        ("ls /etc/x 2>/dev/null", Risk::Low, None),
        ("cp -a /etc/nginx /tmp/nginx", Risk::High, Some("recursive")),
        ("[net] ping -c 1 192.0.2.1", Risk::Low, Some("network")),
        ("find /etc -name x -print0 | xargs -0 cat", Risk::Medium, Some("path_known_late")),
        ("echo x > out.txt", Risk::Medium, Some("writes")),
        ("[w:/var/lib/app] rm -f /var/lib/app/x", Risk::Medium, Some("writable_path")),
        ("[net] curl -s https://example.com/", Risk::Medium, Some("changes")),
        ("[w:/var/lib/app] rm -rf /var/lib/app/x", Risk::High, Some("recursive")),
        ("[w:/etc/app] touch /etc/app/x", Risk::High, Some("delicate_path")),
        ("[net] curl -s -o /tmp/x https://example.com/", Risk::Medium, Some("writes")),
        ("[net] [w:/var/lib/app] curl -s -o /var/lib/app/x https://example.com/", Risk::High, Some("download")),
    ] {
        let report = review(case);
        assert_eq!(report.risk, risk, "{case}: {report:?}");
        let told = report.reasons.iter().any(|r| Some(r.code.as_str()) == reason);
        assert!(reason.is_none() || told, "{case}: {:?}", report.reasons);
    }
    let bare = ScriptProposal { rollback: None, ..proposal("echo x > out.txt") };
    assert_eq!(ScriptPolicy::default().review(&bare, &grants()).risk, Risk::High, "no way back");
}

#[test]
fn the_rollback_is_checked_too() {
    let proposal = ScriptProposal { rollback: Some("reboot".to_owned()), ..proposal("uptime") };
    let violations = ScriptPolicy::default().review(&proposal, &grants()).violations;
    assert_eq!(violations[0].details.as_ref().unwrap()["in"], "rollback");
}

#[test]
fn any_edit_gives_another_digest() {
    let one = proposal("uptime");
    let digest = one.digest();
    assert_eq!(ScriptPolicy::default().check(&one, &grants()).unwrap().digest(), digest);
    let edits: [fn(&mut ScriptProposal); 5] = [
        |p| p.script.push(' '),
        |p| p.rollback = None,
        |p| p.manifest.timeout_seconds.0 += 1,
        |p| p.manifest.writable_paths.push("/var/x".to_owned()),
        |p| p.manifest.resources.memory_mb += 1,
    ];
    for edit in edits {
        let mut other = one.clone();
        edit(&mut other);
        assert_ne!(other.digest(), digest);
    }
    let told = ScriptProposal { intent: "in other words".to_owned(), ..one };
    assert_eq!(told.digest(), digest);
}

#[test]
fn settings_narrow_and_widen() {
    let policy = |settings| ScriptPolicy::new(settings);
    let only = policy(ScriptSettings {
        allowed_binaries: Some(vec!["df".into(), "raspi-config".into()]),
        ..Default::default()
    });
    let codes = |policy: &ScriptPolicy, case: &str| -> Vec<String> {
        policy.review(&proposal(case), &grants()).violations.into_iter().map(|f| f.code).collect()
    };
    assert_eq!(codes(&only, "df -h"), [""; 0]);
    assert_eq!(codes(&only, "if true; then echo x; fi"), [""; 0]);
    assert_eq!(codes(&only, "free"), ["script.command_not_allowed"]);
    assert_eq!(only.review(&proposal("raspi-config nonint get_i2c"), &grants()).risk, Risk::High);
    let denied = policy(ScriptSettings {
        denied_binaries: vec!["df".into()],
        deny_paths: vec!["/srv/x*".into()],
        ..Default::default()
    });
    assert_eq!(codes(&denied, "df"), ["script.command_denied"]);
    assert_eq!(codes(&denied, "cat /srv/xy/z"), ["script.path_denied"]);
    let short = policy(ScriptSettings { max_timeout_seconds: 10, ..Default::default() });
    assert_eq!(codes(&short, "df"), ["script.manifest_limit"]);
}

/// Texts made to keep a parser busy, or to bring it down.
#[test]
fn nasty_scripts_are_answered_in_time() {
    let repeat = |piece: &str, n: usize| piece.repeat(n);
    let nasty = [
        repeat("(", 60_000),
        repeat("$(", 30_000),
        repeat("`", 60_000),
        repeat("{ ", 30_000),
        repeat("if ", 20_000),
        repeat("if if then ", 60),
        repeat("while ", 199),
        repeat("a=", 30_000),
        repeat("\"", 60_001),
        repeat("<<a\n", 10_000),
        repeat("echo a | ", 7_000) + "cat",
        repeat("echo a; ", 8_000),
        repeat("case x in ", 190),
        repeat("! ", 190),
        repeat("((", 4),
        repeat("( ( ( (", 2),
        format!("{}1{}", repeat("((", 4), repeat("))", 4)),
        format!("echo {}", repeat("${a:-", 7)),
        format!("echo {}", repeat("{a,b}", 12_000)),
        format!("x={}", repeat("'a'\"b\"\\c", 7_000)),
        format!("echo $(({}1))", repeat("1+", 20_000)),
        "\u{202e}ls".to_owned(),
        "ls\0".to_owned(),
        repeat("é", 20_000),
    ];
    let mut wrong = Vec::new();
    for text in &nasty {
        eprintln!("{}", text.chars().take(40).collect::<String>());
        let case = ScriptProposal { script: text.clone(), ..proposal("true") };
        let least =
            (0..3).map(|_| promise::timed(|| drop(ScriptPolicy::default().review(&case, &grants()))).1).min().unwrap();
        if least > promise::PROMPT * 20 {
            wrong.push(format!("{least:?}: {}", text.chars().take(40).collect::<String>()));
        }
    }
    testkit::tally("policy", "nasty scripts", nasty.len(), "late answers", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_must_hold_of_any_script_holds_of_these() {
    accepted()
        .into_iter()
        .chain(rejected().into_iter().map(|(_, case)| case))
        .for_each(|case| promise::script(&proposal(case).script));
}

/// Whoever may run the rollback may run it alone.
#[test]
fn a_rollback_counts_for_the_risk_of_the_whole() {
    let mut proposal = proposal("[w:/srv/app] ls /srv/app");
    proposal.rollback = Some("rm -f /srv/app/x".to_owned());
    let with = ScriptPolicy::default().review(&proposal, &grants());
    proposal.rollback = Some("true".to_owned());
    let without = ScriptPolicy::default().review(&proposal, &grants());
    assert!(with.risk > without.risk || with.reasons.len() > without.reasons.len(), "{:?}", with.reasons);
    assert!(with.reasons.iter().any(|reason| reason.message.starts_with("in the rollback: ")), "{:?}", with.reasons);
}
