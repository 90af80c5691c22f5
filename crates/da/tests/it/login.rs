//! Who one is, and to which server: `da login`, `whoami` and `logout`.

use crate::support::{Da, House};
use std::os::unix::fs::PermissionsExt;

/// A user who has nothing yet.
fn newcomer(house: &House) -> Da {
    Da::new(&house.server.url, "").without("DA_TOKEN").without("DA_SERVER")
}

fn credentials(da: &Da) -> std::path::PathBuf {
    da.home.path().join(".agnes/credentials.json")
}

#[test]
fn in_who_and_out_again() {
    let house = House::new(10);
    let (da, token) = (newcomer(&house), house.server.token("ann", "analyst"));
    let url = house.server.url.as_str();
    let mut text = String::new();
    let mut say = |args: &[&str], input: &str| {
        let said = da.run_with(args, input);
        assert!(!format!("{said:?}").contains(&token), "the token shows");
        text.push_str(&format!("{}\n", da.told(args, said).replace(url, "http://SERVER")));
    };
    say(&["whoami"], "");
    say(&["login", "--token-stdin"], &token);
    say(&["login", "--server", url], "");
    say(&["login", "--server", url, "--token-stdin"], "");
    say(&["login", "--server", url, "--token-stdin"], "two words\n");
    say(&["login", "--server", url, "--token-stdin"], "gh_wrong\n");
    // The slash is not part of the address.
    say(&["login", "--server", &format!("{url}/"), "--token-stdin"], &format!("{token}\n"));
    say(&["whoami"], "");
    say(&["whoami", "--json"], "");
    say(&["config", "show", "--origin"], "");
    say(&["logout"], "");
    say(&["whoami"], "");
    say(&["logout", "--server", url, "--json"], "");
    insta::assert_snapshot!(text);
}

#[test]
fn a_login_is_kept_for_its_owner_and_its_server_alone() {
    let house = House::new(10);
    let (da, token) = (newcomer(&house), house.server.token("ann", "analyst"));
    let (url, path) = (house.server.url.as_str(), credentials(&da));
    let login = ["login", "--server", url, "--token-stdin"];
    assert_eq!(da.run_with(&login, "gh_wrong\n").code, 7);
    assert!(!path.exists(), "a wrong token is not kept");
    // Nobody there: nothing is kept either.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = da.run_with(&["login", "--server", &format!("http://{free}"), "--token-stdin"], &token);
    assert_eq!(nobody.code, 9, "{nobody:?}");
    assert!(!path.exists());
    let said = da.run_with(&login, &format!("{token}\n"));
    assert_eq!(said.out, format!("Logged in to {url} as ann (analyst)\n"), "{}", said.err);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(da.run(&["whoami", "--server", "http://127.0.0.1:1"]).code, 7, "no token for that one");
    let doctor = da.run(&["doctor"]);
    assert_eq!(doctor.code, 0, "{}{}", doctor.out, doctor.err);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let doctor = da.run(&["doctor"]);
    assert!(doctor.code == 1 && doctor.out.contains("FAIL credentials"), "{doctor:?}");
    // Logging in again closes it.
    assert_eq!(da.run_with(&login, &token).code, 0);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn of_two_servers_each_has_its_own_token() {
    let (one, other) = (House::new(10), House::new(10));
    let da = newcomer(&one);
    for (house, actor) in [(&one, "ann"), (&other, "bob")] {
        let args = ["login", "--server", &house.server.url, "--token-stdin"];
        assert_eq!(da.run_with(&args, &house.server.token(actor, "analyst")).code, 0);
    }
    let actor = |args: &[&str]| da.json(&[&["whoami"], args].concat())["actor"].as_str().unwrap().to_owned();
    assert_eq!(actor(&[]), "bob", "the last login is the server in use");
    assert_eq!(actor(&["--server", &one.server.url]), "ann");
    // Out of one is not out of the other.
    assert_eq!(da.ok(&["logout"]), format!("Logged out of {}\n", other.server.url));
    assert_eq!(da.run(&["whoami"]).code, 7, "no server is in use");
    assert_eq!(actor(&["--server", &one.server.url]), "ann");
}

#[test]
fn the_environment_logs_in_too_and_goes_first() {
    let house = House::new(10);
    let url = house.server.url.as_str();
    let da = newcomer(&house).with("DA_TOKEN", &house.server.token("ann", "analyst"));
    assert_eq!(da.ok(&["login", "--server", url]), format!("Logged in to {url} as ann (analyst)\n"));
    let da = da.with("DA_TOKEN", &house.server.token("bob", "analyst"));
    let seen = da.json(&["whoami"]);
    assert_eq!((seen["actor"].as_str(), seen["token_from"].as_str()), (Some("bob"), Some("environment DA_TOKEN")));
    let da = da.without("DA_TOKEN");
    let seen = da.json(&["whoami"]);
    assert_eq!((seen["actor"].as_str(), seen["token_from"].as_str()), (Some("ann"), Some("da login")));
    // What one user saw is not shown to the next.
    let kept = da.root().join("cache/catalog.json");
    da.ok(&["catalog"]);
    assert!(kept.exists());
    da.ok(&["logout"]);
    assert!(!kept.exists());
}

/// Whoever wrote a checkout must not choose who is sent a token; and a file that is not ours is not guessed at.
#[test]
fn a_checkout_cannot_have_the_token() {
    let house = House::new(10);
    let da = newcomer(&house);
    let project = da.home.path().join("work/.agnes");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("config"), format!("server: {}\n", house.server.url)).unwrap();
    let token = house.server.token("ann", "analyst");
    let there = da.command(&["login"]).env("DA_TOKEN", &token).current_dir(da.home.path().join("work")).output();
    let there = there.unwrap();
    assert_eq!(there.status.code(), Some(7));
    assert!(String::from_utf8_lossy(&there.stderr).contains("is named by a project's file"), "{there:?}");
    std::fs::create_dir_all(credentials(&da).parent().unwrap()).unwrap();
    std::fs::write(credentials(&da), "not json").unwrap();
    let broken = da.run(&["whoami", "--server", &house.server.url]);
    assert!(broken.code == 7 && broken.err.contains("Hint: remove it and `da login` again"), "{broken:?}");
}
