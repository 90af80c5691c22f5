//! A package opens on its device, in its time, as it was approved; and not otherwise.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::package::{Package, SignedPackage};
use domain::{Manifest, ScriptProposal, sha256_hex};
use jiff::{SignedDuration, Timestamp};
use ops::{Order, Signer};
use policy::script::{Grants, Opening, ScriptPolicy, TrustedKeys};

const NOW: i64 = 1_800_000_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn signed(signer: &Signer) -> SignedPackage {
    let proposal = ScriptProposal {
        script: "uptime".to_owned(),
        manifest: Manifest::default(),
        rollback: Some("true".to_owned()),
        intent: "see how it is".to_owned(),
    };
    let approved = ScriptPolicy::default().check(&proposal, &Grants::default()).unwrap();
    let order = Order {
        package_id: "p-1".to_owned(),
        device_id: "d-1".to_owned(),
        approved_by: vec!["bea".to_owned()],
        now: at(NOW),
        lifetime: SignedDuration::from_hours(1),
    };
    signer.seal(&approved, &order).unwrap()
}

fn open(signed: &SignedPackage, keys: &[&Signer], device_id: &str, now: i64) -> Result<Package, String> {
    let keys: Vec<String> = keys.iter().map(|signer| signer.public_key()).collect();
    let keys = TrustedKeys::parse(keys.iter().map(String::as_str)).unwrap();
    let opening = Opening { keys: &keys, device_id, grants: &Grants::default(), now: at(now) };
    let opened = ScriptPolicy::default().open(signed, &opening);
    opened
        .map(|(package, approved)| {
            assert_eq!(approved.digest(), package.digest);
            package
        })
        .map_err(|fault| fault.code)
}

/// Changed, with a checksum that fits again; the signature can't.
fn forged(original: &SignedPackage, change: impl Fn(&mut Package)) -> SignedPackage {
    let mut package: Package = serde_json::from_slice(&STANDARD.decode(&original.payload).unwrap()).unwrap();
    change(&mut package);
    let payload = serde_json::to_vec(&package).unwrap();
    SignedPackage { sha256: sha256_hex(&payload), payload: STANDARD.encode(payload), ..original.clone() }
}

#[test]
fn it_opens_where_and_when_it_should() {
    let (house, stranger, next) =
        (Signer::from_seed(&[7; 32]), Signer::from_seed(&[8; 32]), Signer::from_seed(&[9; 32]));
    let package = signed(&house);
    assert_eq!(open(&package, &[&house], "d-1", NOW).unwrap().package_id, "p-1");
    assert!(open(&package, &[&next, &house], "d-1", NOW + 3599).is_ok(), "while keys are replaced, both are good");
    for (keys, device, now, code) in [
        (vec![&stranger], "d-1", NOW, "package.unknown_key"),
        (vec![&next], "d-1", NOW, "package.unknown_key"),
        (vec![], "d-1", NOW, "package.unknown_key"),
        (vec![&house], "d-2", NOW, "package.wrong_device"),
        (vec![&house], "d-1", NOW + 3600, "package.expired"),
        (vec![&house], "d-1", NOW + 86_400, "package.expired"),
        (vec![&house], "d-1", NOW - 301, "package.from_the_future"),
    ] {
        assert_eq!(open(&package, &keys, device, now).unwrap_err(), code);
    }
    assert!(open(&package, &[&house], "d-1", NOW - 299).is_ok(), "clocks differ a little");
}

#[test]
fn any_tampering_shows() {
    let house = Signer::from_seed(&[7; 32]);
    let package = signed(&house);
    let changes: [fn(&mut Package); 7] = [
        |p| p.script = STANDARD.encode("reboot"),
        |p| p.rollback = None,
        |p| p.manifest.writable_paths.push("/etc/app".to_owned()),
        |p| p.device_id = "d-2".to_owned(),
        |p| p.expires_at = at(NOW + 999_999),
        |p| p.digest = "0".repeat(64),
        |p| p.package_id = "p-2".to_owned(),
    ];
    for change in changes {
        assert_eq!(open(&forged(&package, change), &[&house], "d-1", NOW).unwrap_err(), "package.bad_signature");
    }
    let flipped =
        |text: &str| if text.starts_with('0') { text.replacen('0', "1", 1) } else { format!("0{}", &text[1..]) };
    let cases = [
        (SignedPackage { signature: flipped(&package.signature), ..package.clone() }, "package.bad_signature"),
        (SignedPackage { signature: String::new(), ..package.clone() }, "package.bad_signature"),
        (SignedPackage { sha256: flipped(&package.sha256), ..package.clone() }, "package.checksum_mismatch"),
        (SignedPackage { payload: "%%%".to_owned(), ..package.clone() }, "package.bad_signature"),
        (SignedPackage { payload: "A".repeat(600_000), ..package.clone() }, "package.too_large"),
        (SignedPackage { key_id: "0".repeat(16), ..package }, "package.unknown_key"),
    ];
    for (tampered, code) in cases {
        assert_eq!(open(&tampered, &[&house], "d-1", NOW).unwrap_err(), code);
    }
}

#[test]
fn keys_are_read_strictly() {
    for wrong in ["", "00", &"0".repeat(64), &"g".repeat(64)] {
        assert!(TrustedKeys::parse([wrong]).is_err(), "{wrong}");
    }
    assert!(!format!("{:?}", Signer::from_seed(&[7; 32])).contains("7, 7"));
}

#[test]
fn schemas_are_strict_and_complete() {
    for (name, schema) in ops::schemas::all() {
        let text = serde_json::to_string(&schema).unwrap();
        assert!(text.contains("\"additionalProperties\":false"), "{name}");
    }
}
