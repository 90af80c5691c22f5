//! What is counted: how long steps take, how scripts end, and what policy finds wrong with them.

use crate::scene::Scene;
use serde_json::json;

/// The number that stands behind a name with its labels.
fn counted(page: &str, series: &str) -> f64 {
    let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.map_or(0.0, |number| number.trim().parse().unwrap())
}

#[test]
fn latency_success_and_what_policy_refuses_are_counted() {
    let scene = Scene::new();
    let log = "Nov 16 03:14:07 app[811]: write failed: No space left on device";
    scene.analyse(&scene.diagnose(&[("journalctl", log)]));
    let plain = |text: &str| json!({ "script": { "script": text, "manifest": {}, "intent": "a test" } });
    let kept = scene.propose(plain("cat /etc/shadow"));
    assert_eq!(kept["state"], "refused", "{kept}");
    let code = kept["report"]["violations"][0]["code"].as_str().unwrap().to_owned();
    for text in ["exit 0", "exit 3", "exit 0"] {
        let kept = scene.propose(plain(text));
        assert_eq!(scene.say(&scene.bea, "approve", &kept).status, 200, "{kept}");
        scene.device.once();
    }
    let page = scene.admin.get("/metrics").text();
    for (step, times) in [("diagnostics", 1.0), ("analysis", 1.0), ("proposal", 4.0), ("approval", 3.0)] {
        let of = |part: &str| counted(&page, &format!("gatehouse_ops_seconds_{part}{{step=\"{step}\"}}"));
        assert_eq!(of("count"), times, "{step}: {page}");
        assert!(of("sum") > 0.0 && of("sum") < 60.0, "{step}: {page}");
        let within =
            |bound: &str| counted(&page, &format!("gatehouse_ops_seconds_bucket{{le=\"{bound}\",step=\"{step}\"}}"));
        assert_eq!(within("+Inf"), times, "{step}: {page}");
    }
    let ended = |how: &str| counted(&page, &format!("gatehouse_ops_scripts_ended_total{{ending=\"{how}\"}}"));
    assert_eq!((ended("succeeded"), ended("failed"), ended("timed_out")), (2.0, 1.0, 0.0), "{page}");
    let violations = format!("gatehouse_ops_violations_total{{code=\"{code}\"}}");
    assert_eq!(counted(&page, &violations), 1.0, "{code}: {page}");
}
