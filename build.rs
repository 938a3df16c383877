//! Compiles `proto/` with protox, so that no protoc is needed: into Rust types, and into descriptors that name fields at run time.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = [
        "proto/tablegate/v1/events.proto",
        "proto/tablegate/v1/floor.proto",
        "proto/tablegate/device/v1/link.proto",
    ];
    println!("cargo:rerun-if-changed=proto");
    let descriptors = protox::compile(files, ["proto"])?;
    prost_build::Config::new().compile_fds(descriptors)?;

    let mut floor = protox::Compiler::new(["proto"])?;
    floor.include_imports(true).include_source_info(false);
    floor.open_file("proto/tablegate/v1/floor.proto")?;
    let out = std::path::PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("floor_descriptors.bin"), floor.encode_file_descriptor_set())?;
    Ok(())
}
