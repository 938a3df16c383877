//! Compiles `proto/` with protox, so that no protoc is needed.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = [
        "proto/tablegate/v1/events.proto",
        "proto/tablegate/v1/floor.proto",
        "proto/tablegate/device/v1/link.proto",
    ];
    println!("cargo:rerun-if-changed=proto");
    let descriptors = protox::compile(files, ["proto"])?;
    prost_build::Config::new().compile_fds(descriptors)?;
    Ok(())
}
