//! exr compresses and unpacks the blocks of an image in a pool of its own.

use exr::prelude::*;
use manycore_drop_in::Program;
use std::io::Cursor;

const SIZE: (usize, usize) = (256, 256);

pub fn programs() -> Vec<Program> {
    let file = write();
    let expected = file.clone();
    vec![
        // Blocks are written in order: the file is the same each time.
        Program::giving("exr_write", write, expected),
        Program::new(
            "exr_read",
            move || file.clone(),
            read,
            |pixels| {
                assert!(pixels.into_iter().enumerate().all(|(i, row)| {
                    row.into_iter()
                        .enumerate()
                        .all(|(x, red)| red == pixel(Vec2(x, i)).0)
                }));
            },
        ),
    ]
}

fn pixel(Vec2(x, y): Vec2<usize>) -> (f32, f32, f32) {
    let wave = (x as f32 * 0.05).sin() + (y as f32 * 0.03).cos();
    (wave, wave * 0.5, (x ^ y) as f32)
}

fn write() -> Vec<u8> {
    let channels = SpecificChannels::rgb(pixel);
    let image = Image::from_encoded_channels(SIZE, Encoding::SMALL_LOSSLESS, channels);
    let mut file = Cursor::new(Vec::new());
    image
        .write()
        .to_buffered(&mut file)
        .expect("memory can be written");
    file.into_inner()
}

/// The red parts, row by row.
fn read(file: Vec<u8>) -> Vec<Vec<f32>> {
    let image = exr::prelude::read()
        .no_deep_data()
        .largest_resolution_level()
        .rgb_channels(
            |size, _| vec![vec![0.0; size.width()]; size.height()],
            |rows: &mut Vec<Vec<f32>>, at, (red, _, _): (f32, f32, f32)| rows[at.y()][at.x()] = red,
        )
        .first_valid_layer()
        .all_attributes()
        .from_buffered(Cursor::new(file))
        .expect("this program has written it");
    image.layer_data.channel_data.pixels
}
