//! What runs, what does not, and that nothing runs twice.

use crate::house::House;
use crate::support::Device;
use base64::Engine;
use domain::package::SignedPackage;
use domain::{Manifest, Resources, Timeout};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

pub fn enrolled(house: &House) -> Device {
    Device::enrolled(&house.url, "one-time")
}

pub fn manifest(device: &Device) -> Manifest {
    Manifest { writable_paths: vec![device.shared.path().to_str().unwrap().to_owned()], ..Manifest::default() }
}

#[test]
fn an_approved_script_runs_once_and_is_reported_with_its_redacted_log() {
    let house = House::start();
    let device = enrolled(&house);
    let file = device.file("count");
    let script = format!("echo \"from 203.0.113.9\" \nid -u\npwd\necho x >> {}\nexit 3", file.display());
    let package = house.package("p-1", &script, Some("true"), manifest(&device), 600);
    house.queue(package.clone());
    house.queue(package);
    device.once();
    device.once();
    assert_eq!(fs::read_to_string(&file).unwrap(), "x\n", "{:?}", house.results());
    let results = house.results();
    assert_eq!(
        (results[0]["ending"].as_str(), results[0]["exit_code"].as_i64()),
        (Some("exited"), Some(3)),
        "{results:?}"
    );
    assert_eq!(results[0]["sandbox_tier"], "T1");
    let unenforced = results[0]["unenforced"].as_array().unwrap();
    if !unenforced.iter().any(|limit| limit == "tree_memory") {
        assert!(results[0]["usage"]["memory_peak_kb"].as_u64().is_some_and(|peak| peak > 0), "{results:?}");
    }
    assert_eq!(
        (results[1]["ending"].as_str(), results[1]["code"].as_str()),
        (Some("refused"), Some("package.replayed"))
    );
    let log = house.log();
    assert!(log.starts_with("from <IP_1>\n") && log.contains("/tmp") && !log.contains("\n0\n"), "{log}");
}

#[test]
fn what_is_not_as_it_was_signed_does_not_run() {
    let house = House::start();
    let device = enrolled(&house);
    let script = format!("echo x >> {}", device.file("ran").display());
    let good = || house.package("p-1", &script, Some("true"), manifest(&device), 600);
    let engine = base64::engine::general_purpose::STANDARD;
    let mut other = engine.decode(good().payload).unwrap();
    other.push(b' ');
    let tampered = SignedPackage { payload: engine.encode(&other), sha256: domain::sha256_hex(&other), ..good() };
    let stranger = ops::Signer::from_seed(&[8; 32]);
    let cases = [
        (tampered, "package.bad_signature"),
        (SignedPackage { key_id: stranger.key_id(), ..good() }, "package.unknown_key"),
        (house.package("p-2", &script, Some("true"), manifest(&device), -10), "package.expired"),
    ];
    for (package, code) in cases {
        house.queue(package);
        device.once();
        let results = house.results();
        assert_eq!(results.last().unwrap()["code"], code, "{results:?}");
    }
    assert!(!device.file("ran").exists());
}

#[test]
fn a_script_is_held_to_its_time_its_output_and_its_memory() {
    let house = House::start();
    let device = enrolled(&house);
    let resources = Resources { output_kb: 16, ..Resources::default() };
    let short = Manifest { timeout_seconds: Timeout(1), resources, ..manifest(&device) };
    let cases = [
        ("t-1", "while true; do sleep 1; done", "timed_out"),
        ("t-2", "while true; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", "output_exceeded"),
        ("t-3", "exit 7", "exited"),
    ];
    for (id, script, ending) in cases {
        house.queue(house.package(id, script, Some("true"), short.clone(), 600));
        device.once();
        assert_eq!(house.results().last().unwrap()["ending"], ending, "{script}");
    }
}

/// Queues a package, and kills the device in the middle of its script.
fn killed_while_it_runs(house: &House, device: &Device, package: SignedPackage, begun: &Path) {
    house.queue(package);
    let mut child = device.command(&["run", "--once"]).stdout(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !begun.exists() {
        assert!(Instant::now() < deadline, "the script starts");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_device_that_is_killed_reports_and_never_runs_it_again() {
    let house = House::start();
    let device = enrolled(&house);
    let file = device.file("count");
    let script = format!("echo x >> {}\nsleep 50", file.display());
    let package = house.package("p-1", &script, Some("true"), manifest(&device), 600);
    killed_while_it_runs(&house, &device, package.clone(), &file);
    house.queue(package);
    device.once();
    assert_eq!(endings(&house), ["interrupted", "refused"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "x\n");
}

/// All that runs on the machine and names this file: the script, and what holds it.
fn processes(file: &Path) -> Vec<String> {
    let needle = file.to_str().unwrap();
    let lines =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).into_owned()).filter(|line| line.contains(needle)).collect()
}

#[test]
fn a_script_dies_with_its_killed_device() {
    let house = House::start();
    let device = enrolled(&house);
    let (begun, later) = (device.file("begun"), device.file("later"));
    let script = format!("touch {}\nsleep 50 | sleep 50\ntouch {}", begun.display(), later.display());
    let package = house.package("p-1", &script, Some("true"), manifest(&device), 600);
    killed_while_it_runs(&house, &device, package, &begun);
    let deadline = Instant::now() + Duration::from_secs(20);
    while !processes(&later).is_empty() {
        assert!(Instant::now() < deadline, "it lives on: {:?}", processes(&later));
        std::thread::yield_now();
    }
    assert!(!later.exists());
}

/// A device may be away for longer than its package is good, and then somebody must take back what it left half done.
#[test]
fn what_was_interrupted_is_rolled_back_after_its_package_has_expired() {
    let house = House::start();
    let device = enrolled(&house);
    let file = device.file("flag");
    let (script, rollback) = (format!("touch {}\nsleep 50", file.display()), format!("rm {}", file.display()));
    let package = |seconds| house.package("p-1", &script, Some(&rollback), manifest(&device), seconds);
    killed_while_it_runs(&house, &device, package(600), &file);
    // As if all of it had been a minute ago, and the package had been good for less.
    let mut journal = fs::read_dir(device.state.path().join("journal")).unwrap().flatten().map(|entry| entry.path());
    let path = journal.find(|path| path.extension().is_some_and(|extension| extension == "json")).unwrap();
    let mut entry: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let begun_at: jiff::Timestamp = entry["begun_at"].as_str().unwrap().parse().unwrap();
    let before = begun_at - jiff::SignedDuration::from_secs(60);
    entry["begun_at"] = before.to_string().into();
    entry["signed"] = serde_json::to_value(package(-10)).unwrap();
    fs::write(&path, entry.to_string()).unwrap();
    let output = device.run(&["--rollback", "p-1"]);
    assert!(output.status.success() && !file.exists(), "{output:?}");
    assert_eq!(endings(&house), ["interrupted", "exited"]);
    assert_eq!(
        house.results()[0]["started_at"],
        before.to_string(),
        "it began then, and not when the device came back"
    );
}

pub fn endings(house: &House) -> Vec<String> {
    house.results().iter().map(|result| result["ending"].as_str().unwrap().to_owned()).collect()
}

/// A house takes the end of a rollback only after the end of what it takes back.
#[test]
fn what_was_interrupted_is_told_before_its_rollback() {
    let house = House::start();
    let device = enrolled(&house);
    let file = device.file("flag");
    let (script, rollback) = (format!("touch {}\nsleep 50", file.display()), format!("rm {}", file.display()));
    let package = house.package("p-1", &script, Some(&rollback), manifest(&device), 600);
    killed_while_it_runs(&house, &device, package, &file);
    let output = device.run(&["--rollback", "p-1"]);
    assert!(output.status.success() && !file.exists(), "{output:?}");
    assert_eq!(endings(&house), ["interrupted", "exited"]);
    let undone: Vec<bool> = house.results().iter().map(|result| result["rollback"].as_bool().unwrap()).collect();
    assert_eq!(undone, [false, true]);
}

/// A proxy, a portal or a wrong address may answer anything.
#[test]
fn a_result_is_kept_until_the_house_itself_has_answered() {
    let house = House::start();
    let device = enrolled(&house);
    let file = device.file("count");
    let script = format!("echo x >> {}", file.display());
    house.queue(house.package("p-1", &script, Some("true"), manifest(&device), 600));
    for answer in ["400 Bad Request", "403 Forbidden", "404 Not Found", "409 Conflict", "410 Gone", "502 Bad Gateway"] {
        house.answer_results(Some(answer));
        assert!(!device.run(&["run", "--once"]).status.success(), "{answer}");
        assert_eq!(endings(&house), [""; 0], "{answer}");
    }
    house.answer_results(None);
    device.once();
    assert_eq!(endings(&house), ["exited"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "x\n");
}

#[test]
fn a_rollback_runs_once_on_the_device_itself() {
    let house = House::start();
    let device = enrolled(&house);
    let file = device.file("flag");
    let (script, rollback) = (format!("touch {}", file.display()), format!("rm {}", file.display()));
    house.queue(house.package("p-1", &script, Some(&rollback), manifest(&device), 600));
    device.once();
    assert!(file.exists(), "{:?}", house.results());
    let output = device.run(&["--rollback", "p-1"]);
    assert!(output.status.success(), "{output:?}");
    assert!(!file.exists());
    assert_eq!(house.results().last().unwrap()["rollback"], true);
    assert!(!device.run(&["--rollback", "p-1"]).status.success(), "once");
    assert!(!device.run(&["--rollback", "p-9"]).status.success(), "unknown");
}

/// A link would lead out of what the owner of the device grants.
#[test]
fn a_path_that_leads_through_a_link_is_not_made_writable() {
    let house = House::start();
    let device = enrolled(&house);
    let outside = tempfile::Builder::new().prefix("gatehouse-").tempdir_in("/var/tmp").unwrap();
    fs::set_permissions(outside.path(), fs::Permissions::from_mode(0o777)).unwrap();
    fs::create_dir(outside.path().join("deeper")).unwrap();
    fs::set_permissions(outside.path().join("deeper"), fs::Permissions::from_mode(0o777)).unwrap();
    symlink(outside.path(), device.file("link")).unwrap();
    for (number, path) in ["link", "link/deeper"].into_iter().enumerate() {
        let path = device.file(path).to_str().unwrap().to_owned();
        let script = format!("echo x > {path}/owned");
        let manifest = Manifest { writable_paths: vec![path], ..Manifest::default() };
        house.queue(house.package(&format!("p-{number}"), &script, Some("true"), manifest, 600));
        device.once();
        assert_eq!(house.results().last().unwrap()["code"], "device.path_is_link", "{:?}", house.results());
    }
    assert!(!outside.path().join("owned").exists() && !outside.path().join("deeper/owned").exists());
}
