//! What a script does not see of its device: secrets, services, and what the owner denies.

use crate::house::House;
use crate::runs::{endings, enrolled, manifest};
use domain::Manifest;
use serde_json::json;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

#[test]
fn a_script_sees_neither_the_devices_secrets_nor_its_services() {
    let house = House::start();
    let device = enrolled(&house);
    // The policy would not let it through: what the jail itself holds is what is asked here.
    let scripts = ["cat /etc/hostname > /dev/null && echo readable", "find /var/tmp -name x", "cat /proc/net/route"];
    for (number, script) in scripts.iter().enumerate() {
        house.queue(house.package(&format!("s-{number}"), script, None, Manifest::default(), 600));
        device.once();
    }
    assert!(house.results().iter().all(|result| result["ending"] == "exited"), "{:?}", house.results());
    let routes = house.said("logs").last().unwrap()["text"].as_str().unwrap().lines().count();
    assert_eq!(routes, 1, "no network but its own: {}", house.log());
    assert!(!house.log().contains("ghd_secret"));
}

/// By whatever name it is called: a script sees nothing where it really is, not even that it is closed.
#[test]
fn a_state_directory_that_is_named_otherwise_is_hidden_where_it_is() {
    let house = House::start();
    let device = enrolled(&house);
    let real = device.file("state");
    fs::create_dir(&real).unwrap();
    for file in fs::read_dir(device.state.path()).unwrap().flatten().filter(|file| file.path().is_file()) {
        fs::copy(file.path(), real.join(file.file_name())).unwrap();
    }
    fs::write(real.join("secret"), "everybody may read this").unwrap();
    symlink(&real, device.file("link")).unwrap();
    let script = format!("ls {real}\ncat {real}/secret", real = real.display());
    for name in ["link", "state", "./link/../state"] {
        fs::set_permissions(&real, fs::Permissions::from_mode(0o755)).unwrap();
        let id = format!("p-{}", name.len());
        house.queue(house.package(&id, &script, Some("true"), manifest(&device), 600));
        let mut command = device.command(&["--state", name, "run", "--once"]);
        let output = command.current_dir(device.shared.path()).output().unwrap();
        assert!(output.status.success(), "{name}: {output:?}");
        assert_eq!(house.results().last().unwrap()["ending"], "exited", "{name}: {:?}", house.results());
        let log = house.said("logs").last().unwrap()["text"].as_str().unwrap().to_owned();
        assert!(log.contains("No such file or directory") && !log.contains("everybody"), "{name}: {log}");
        assert!(!log.contains("device.json"), "{name}: {log}");
        let mode = fs::metadata(&real).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{name}: closed to everybody else");
    }
}

/// Policy refuses to name it, also by a directory or a pattern; what a script finds out only when it runs, the jail covers.
#[test]
fn what_the_owner_denies_is_not_there_for_a_script() {
    let house = House::start();
    let device = enrolled(&house);
    fs::create_dir(device.file("keys")).unwrap();
    for name in ["fine", "keys/inner", "plain", "some.api.token"] {
        fs::write(device.file(name), format!("this is {name}\n")).unwrap();
    }
    let shared = device.shared.path().to_str().unwrap().to_owned();
    let denied = [format!("{shared}/keys"), format!("{shared}/plain"), format!("{shared}/*.token")];
    device.set_config("scripts", json!({ "deny_paths": denied }));
    let names = ["fine", "keys/inner", "plain", "some.api.token"].map(|name| format!("{shared}/{name}\n"));
    fs::write(device.file("names"), names.concat()).unwrap();
    let found_out =
        format!("while read -r name; do cat -- \"$name\"; done < {shared}/names\necho x > {shared}/keys.txt");
    let scripts = [format!("cat {shared}/*"), format!("grep -r this {shared}"), found_out];
    for (number, script) in scripts.iter().enumerate() {
        house.queue(house.package(&format!("p-{number}"), script, Some("true"), manifest(&device), 600));
        device.once();
    }
    assert_eq!(endings(&house), ["refused", "refused", "exited"], "{:?}", house.results());
    let log = house.log();
    assert!(log.contains("this is fine") && device.file("keys.txt").exists(), "{log}");
    for secret in ["inner", "plain\n", "this is some.api.token"] {
        assert!(!log.contains(&format!("this is {secret}")), "{secret}: {log}");
    }
    assert!(!log.contains("this is keys") && !log.contains("this is plain"), "{log}");
    let kept = fs::read_to_string(device.file("keys/inner")).unwrap();
    assert_eq!(kept, "this is keys/inner\n", "what is hidden is untouched");
}

/// Also where they lie below a directory that scripts may write.
#[test]
fn a_devices_own_files_stay_hidden_below_what_it_grants() {
    let house = House::start();
    let mut device = enrolled(&house);
    let shown = fs::Permissions::from_mode(0o755);
    let state = tempfile::Builder::new().prefix("state-").tempdir_in(device.shared.path()).unwrap();
    for file in fs::read_dir(device.state.path()).unwrap().flatten().filter(|file| file.path().is_file()) {
        fs::copy(file.path(), state.path().join(file.file_name())).unwrap();
    }
    fs::write(state.path().join("secret"), "everybody may read this").unwrap();
    fs::set_permissions(state.path(), shown).unwrap();
    let script = format!(
        "ls {state}\ncat {state}/secret\ntouch {shared}/done",
        state = state.path().display(),
        shared = device.shared.path().display()
    );
    device.state = state;
    house.queue(house.package("p-1", &script, Some("true"), manifest(&device), 600));
    device.once();
    assert_eq!(endings(&house), ["exited"], "{}", house.log());
    assert!(device.file("done").exists(), "what it grants is there: {}", house.log());
    assert!(!house.log().contains("everybody") && !house.log().contains("device.json"), "{}", house.log());
    assert!(house.log().contains("No such file or directory"), "covered, and not only closed: {}", house.log());
}
