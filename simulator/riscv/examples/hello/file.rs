// Included by the examples in the documentation: the program as a file, which is there as long as
// this value is.
{
    let bytes: Vec<u8> = include!("program.rs");
    let mut file = tempfile::NamedTempFile::new()?;
    std::io::Write::write_all(&mut file, &bytes)?;
    file
}
