//! Every exit code of spec 004 §10.2, by the failure that it stands for.

use crate::proxy::{At, Proxy, Then};
use crate::support::{Da, House, Said};
use std::io::Read;
use std::process::{Command, Stdio};
use testkit::{Disk, tally};

/// One line and a hint for people, an object for programs; both with the code.
fn refused(da: &Da, args: &[&str], code: i32) -> String {
    let plain = da.run(args);
    assert_eq!(plain.code, code, "da {args:?}: {}{}", plain.out, plain.err);
    assert!(plain.err.contains("Error: ") && plain.err.contains("\nHint: "), "{}", plain.err);
    let json = da.run(&[args, &["--json"]].concat());
    let object: serde_json::Value = serde_json::from_str(json.err.lines().last().unwrap_or_default())
        .unwrap_or_else(|e| panic!("{e}: {}", json.err));
    assert_eq!((object["exit_code"].as_i64(), json.code), (Some(i64::from(code)), code), "{object}");
    for key in ["error", "message", "hint"] {
        assert!(!object[key].as_str().unwrap().is_empty(), "{key} of {object}");
    }
    da.told(args, plain)
}

#[test]
fn every_exit_code_is_produced_by_its_failure() {
    let house = House::with(400_000, |server| server.env("GATEHOUSE_API_SCAN_MAX_DAILY_BYTES_PER_USER", "2000000"));
    let da = house.da();
    da.ok(&["fetch", "events", "--as", "there"]);
    let url = house.server.url.clone();
    let mut text = String::new();
    let mut cases = 0;
    let mut case = |da: &Da, args: &[&str], code: i32| {
        cases += 1;
        text.push_str(&format!("{}\n", refused(da, args, code)));
    };
    // 2: what was asked is not valid.
    case(&da, &["fetch", "events", "--where", "OBSCURE_FN(clicks) = 1", "--as", "x"], 2);
    case(&da, &["fetch", "events", "--select", "nope", "--as", "x"], 2);
    case(&da, &["fetch", "events", "--as", "Bad Name"], 2);
    case(&da, &["fetch"], 2);
    case(&da, &[], 2);
    case(&da, &["snapshot"], 2);
    case(&da, &["query", "SELECT 1", "--rows", "many"], 2);
    case(&da, &["snapshot", "refresh", "nothing"], 2);
    case(&da, &["snapshot", "prune", "--older-than", "soon"], 2);
    case(&da, &["query", "SELECT regoin FROM there"], 2);
    case(&da, &["query", "SELECT 1 FORM there"], 2);
    case(&da, &["query", "--remote", "DELETE FROM events"], 2);
    case(&da, &["query", "FROM there", "-o", "there.xls"], 2);
    case(&da, &["query", "FROM 'nowhere.csv'"], 2);
    case(&da, &["query", "DROP VIEW there"], 2);
    case(&da, &["ask", "how many", "--dataset", "nope"], 2);
    // 6: it is there already.
    case(&da, &["fetch", "events", "--as", "there"], 6);
    // 7: nobody, or nobody that is known.
    case(&Da::new(&url, "gh_wrong"), &["catalog"], 7);
    case(&Da::new(&url, "x").without("DA_TOKEN"), &["catalog"], 7);
    case(&Da::new("", "").without("DA_TOKEN").without("DA_SERVER"), &["whoami"], 7);
    // 8: not for this role.
    case(&da, &["fetch", "secrets"], 8);
    case(&da, &["schema", "secrets"], 8);
    case(&da, &["admin", "catalog-refresh"], 8);
    // 9: nobody answers there.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    case(&Da::new(&format!("http://{free}"), "gh_x"), &["catalog"], 9);
    // 1: nothing that was foreseen.
    let broken = house.da();
    let file = broken.home.path().join("file");
    std::fs::write(&file, "").unwrap();
    let broken = broken.with("DA_DATA_DIR", &file.join("below").display().to_string());
    case(&broken, &["fetch", "events"], 1);
    // 3: the quota of a day is used up by one large scan.
    let greedy = house.da_as("bob", "analyst");
    let cut = greedy.run(&["fetch", "numbers", "--quiet"]);
    assert!(cut.code == 0 && cut.err.contains("the server cut the result"), "{cut:?}");
    case(&greedy, &["fetch", "numbers", "--force", "--no-estimate"], 3);
    // 5: the server cannot read its own data.
    std::fs::write(house.dir.path().join("events.parquet"), "not parquet any more").unwrap();
    case(&da, &["fetch", "events", "--as", "y", "--no-estimate"], 5);
    insta::assert_snapshot!(text);
    tally("da", "exit codes, each by its own failure", cases, "wrong codes", 0);
}

/// 4: the disk is full, while a snapshot is written and before.
#[test]
fn a_full_disk() {
    let house = House::new(1_000_000);
    let disk = Disk::mount(12).expect("a disk of its own; mounting is for root");
    let da = house.da().with("DA_DATA_DIR", &disk.path().display().to_string());
    da.ok(&["fetch", "events"]);
    let before = da.ok(&["query", "FROM events", "--format", "csv"]);
    let said = da.run(&["fetch", "numbers", "--no-estimate"]);
    assert_eq!(said.code, 4, "{}", said.err);
    assert!(said.err.starts_with("Error: the snapshot cannot be written: the disk is full"), "{}", said.err);
    disk.fill();
    let said = da.run(&["fetch", "numbers", "--limit", "100000", "--no-estimate"]);
    assert_eq!(said.code, 4, "{}", said.err);
    disk.free();
    assert_eq!(da.ok(&["query", "FROM events", "--format", "csv"]), before);
    let names: Vec<String> = std::fs::read_dir(disk.path().join("snapshots"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("numbers"))
        .collect();
    assert_eq!(names, [""; 0], "nothing is left of it");
}

/// A reader that has enough is no failure.
#[test]
fn a_broken_pipe_is_no_failure() {
    let house = House::new(10);
    let da = house.da();
    let mut child = da
        .command(&["query", "SELECT * FROM range(5000000)", "--format", "csv"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 16];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(0));
}

/// Ctrl-C in the middle of a fetch.
#[test]
fn an_interrupted_fetch_leaves_nothing() {
    let house = House::new(200_000);
    let da = house.da();
    da.ok(&["fetch", "events"]);
    for more in [&[][..], &["--json"]] {
        let proxy = Proxy::new(&house.server.url, At::Byte(2_000_000), Then::Hold);
        let fetch = ["fetch", "numbers", "--no-estimate", "--server", &proxy.url];
        let mut child = da.start(&[&fetch[..], more].concat());
        proxy.reached(&mut child);
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let Said { err, code, .. } = crate::support::said(child);
        assert_eq!(code, 130, "{err}");
        assert!(err.contains("interrupted") && err.starts_with('{') != more.is_empty(), "{err}");
    }
    assert_eq!(da.files(), ["events.meta.json", "events.parquet"]);
    assert_eq!(da.number("SELECT count(*) FROM events"), 120);
}
