//! Who said what: flag, environment, project, user, default; and where tokens go.

use crate::support::{Da, House};
use std::os::unix::fs::PermissionsExt;

#[test]
fn flag_before_environment_before_project_before_user() {
    let da = Da::new("http://env", "gh_x").without("DA_SERVER");
    let user = da.home.path().join(".agnes");
    let project = da.home.path().join("work/.agnes");
    for dir in [&user, &project] {
        std::fs::create_dir_all(dir).unwrap();
    }
    std::fs::write(user.join("config"), "server: http://user\nsnapshot_quota_gb: 5\nsnapshot_stale_warn_days: 3\n")
        .unwrap();
    std::fs::write(project.join("config"), "# ours\nserver: http://project\nsnapshot_quota_gb: 6\n").unwrap();
    let da = da.with("DA_SNAPSHOT_QUOTA_GB", "7");
    let shown = |da: &Da, args: &[&str]| {
        let output = da.command(args).current_dir(da.home.path().join("work")).output().unwrap();
        String::from_utf8(output.stdout).unwrap().replace(&da.home.path().display().to_string(), "~")
    };
    insta::assert_snapshot!(shown(&da, &["config", "show", "--origin"]), @r"
    server: http://project    # project file ~/work/.agnes/config
    data_dir: ~/agnes-data/user    # default
    snapshot_quota_gb: 7    # environment DA_SNAPSHOT_QUOTA_GB
    snapshot_stale_warn_days: 3    # user file ~/.agnes/config
    fetch_default_estimate: true    # default
    ");
    assert!(
        shown(&da, &["config", "show", "--origin", "--server", "http://flag/"])
            .starts_with("server: http://flag    # flag\n")
    );
    // A checkout cannot send the token of the environment elsewhere.
    let output = da.command(&["catalog"]).current_dir(da.home.path().join("work")).output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is not sent to `http://project`"));
    // What nobody knows is refused.
    std::fs::write(user.join("config"), "snapshot_quota: 5\n").unwrap();
    let said = da.run(&["config", "show"]);
    assert!(said.code == 2 && said.err.contains("snapshot_quota"), "{said:?}");
    assert_eq!(da.with("DA_SNAPSHOT_STALE_WARN_DAYS", "soon").run(&["config", "show"]).code, 2);
}

#[test]
fn a_login_is_kept_for_its_server_alone() {
    let house = House::new(10);
    let token = house.server.token("ann", "analyst");
    let da = Da::new(&house.server.url, "").without("DA_TOKEN").without("DA_SERVER");
    let url = house.server.url.as_str();
    let wrong = da.run_with(&["login", "--server", url, "--token-stdin"], "gh_wrong\n");
    assert_eq!(wrong.code, 7, "{wrong:?}");
    let path = da.home.path().join(".agnes/credentials.json");
    assert!(!path.exists(), "a wrong token is not kept");
    let said = da.run_with(&["login", "--server", url, "--token-stdin"], &format!("{token}\n"));
    assert_eq!(said.out, format!("Logged in to {url} as ann (analyst)\n"), "{}", said.err);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(da.json(&["whoami"])["token_from"], "da login");
    assert_eq!(da.run(&["whoami", "--server", "http://127.0.0.1:1"]).code, 7, "no token for that one");
    let doctor = da.run(&["doctor"]);
    assert_eq!(doctor.code, 0, "{}{}", doctor.out, doctor.err);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let doctor = da.run(&["doctor"]);
    assert!(doctor.code == 1 && doctor.out.contains("FAIL credentials"), "{doctor:?}");
    assert_eq!(da.ok(&["logout"]), format!("Logged out of {url}\n"));
    assert_eq!(da.run(&["whoami"]).code, 7);
}

#[test]
fn admins_keep_the_registry() {
    let house = House::new(10);
    let admin = house.da_as("root", "admin");
    assert!(admin.ok(&["admin", "catalog-refresh"]).starts_with("The server forgot "));
    assert_eq!(
        admin.ok(&["admin", "register", "vault", "secrets"]),
        "Registered secrets; `da admin show secrets` shows its contract\n"
    );
    assert_eq!(admin.json(&["admin", "show", "secrets"])["contract"]["resource"], "secrets");
    assert_eq!(admin.ok(&["admin", "unregister", "secrets"]), "Unregistered secrets\n");
    assert_eq!(admin.run(&["admin", "show", "nothing"]).code, 2);
}
