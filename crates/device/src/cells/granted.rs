//! Whether what a script is to be given to write is what its manifest says.

use domain::{Fault, Kind};
use std::path::Path;

/// No part of a granted path may be a link: what holds the script would follow it, and open what nobody has approved.
pub fn check(paths: &[String]) -> Result<(), Fault> {
    paths.iter().try_for_each(|path| leads_to_itself(Path::new(path)))
}

/// One that is not there is left to what holds the script, which refuses it.
fn leads_to_itself(path: &Path) -> Result<(), Fault> {
    match path.canonicalize() {
        Ok(real) if real == path => Ok(()),
        Ok(_) => {
            let message = format!("`{}` may not be granted: it is a link, or lies behind one", path.display());
            Err(Fault::new(Kind::Forbidden, "device.path_is_link", message)
                .hint("name the place itself in `writable_paths`"))
        }
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_and_what_lies_behind_one_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/inner")).unwrap();
        std::fs::write(root.join("real/file"), "").unwrap();
        symlink(root.join("real"), root.join("link")).unwrap();
        symlink("/etc/hosts", root.join("real/hosts")).unwrap();
        let granted = |path: &str| check(&[root.join(path).display().to_string()]);
        for fine in ["real", "real/inner", "real/file", "absent"] {
            assert!(granted(fine).is_ok(), "{fine}");
        }
        for link in ["link", "link/inner", "link/file", "real/hosts"] {
            assert_eq!(granted(link).unwrap_err().code, "device.path_is_link", "{link}");
        }
    }
}
