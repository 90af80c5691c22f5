//! Lets programs of this crate find the prebuilt DuckDB library: where it was linked from, or
//! beside the program itself.

fn main() {
    println!("cargo:rerun-if-env-changed=DUCKDB_LIB_DIR");
    if std::env::var_os("CARGO_FEATURE_BUNDLED").is_some() {
        return;
    }
    println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN");
    if let Some(dir) = std::env::var_os("DUCKDB_LIB_DIR") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{}", dir.to_string_lossy());
    }
}
