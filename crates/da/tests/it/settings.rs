//! Who said what: flag, environment, project, user, default; and where tokens go.

use crate::support::{Da, House};

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
fn every_setting_is_documented() {
    let shown = Da::new("http://none", "gh_x").json(&["config", "show"]);
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/DA.md")).unwrap();
    for setting in shown.as_array().unwrap() {
        let key = setting["key"].as_str().unwrap();
        let line = format!("| `{key}` | `DA_{}` |", key.to_uppercase());
        assert!(page.contains(&line), "docs/DA.md has no line `{line} …`");
    }
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
