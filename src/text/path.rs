//! Paths as text: made absolute and freed of `.` and `..`. Links are resolved by whoever can see the file system; what
//! comes from there is absolute already.

/// `path` as seen from `cwd`. Backslashes of Windows are slashes here.
pub fn absolute(cwd: &str, path: &str) -> String {
    let path = path.replace('\\', "/");
    let cwd = cwd.replace('\\', "/");
    let rooted = path.starts_with('/') || path.as_bytes().get(1) == Some(&b':');
    let whole = if rooted || cwd.is_empty() { path } else { format!("{cwd}/{path}") };
    let lead = if whole.starts_with('/') { "/" } else { "" };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if lead == "/" => {}
            _ => parts.push(part),
        }
    }
    format!("{lead}{}", parts.join("/"))
}

/// Whether a path lies in a folder. Everything lies in the folder without a name.
pub fn inside(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_absolute_as_text() {
        for (cwd, path, expected) in [
            ("/r", "src/a", "/r/src/a"),
            ("/r", "./src/../a", "/r/a"),
            ("/r", "/x//y/", "/x/y"),
            ("/", "../../a", "/a"),
            ("", "src/./a", "src/a"),
            ("", "../a", "../a"),
            ("C:\\r", "src\\a", "C:/r/src/a"),
            ("/r", "C:\\x", "C:/x"),
        ] {
            assert_eq!(absolute(cwd, path), expected, "{path} in {cwd}");
        }
    }

    #[test]
    fn a_folder_holds_what_begins_with_its_whole_name() {
        assert!(inside("/r/a", "/r") && inside("/r", "/r/") && inside("a", ""));
        assert!(!inside("/ra", "/r") && !inside("/x", "/r"));
    }
}
