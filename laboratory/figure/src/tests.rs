//! The rules of all figures.

use super::canvas::{Anchor, Canvas, Shape};
use super::*;
use roxmltree::Document;

const NAMES: [&str; 6] = [
    "channel",
    "sense",
    "futex",
    "mcs",
    "dissemination",
    "counted",
];

fn lines(title: &str, spare: f64) -> Panel {
    let series = NAMES.iter().enumerate().map(|(at, name)| {
        let point = |power: i32| Point {
            x: 2_f64.powi(power),
            y: Value {
                at: 100.0 + spare * at as f64,
                low: 90.0,
                high: 5_000.0,
            },
        };
        Series::measured(*name, (1..=10).map(point).collect())
    });
    Panel {
        title: title.into(),
        content: Content::Lines {
            x: Axis::logarithmic("cores", ""),
            y: Axis::linear("time of a wait", "cycles").up_to(350.0),
            series: series.chain([Series::level("ideal", 50.0)]).collect(),
        },
    }
}

fn dots(title: &str) -> Panel {
    let row = |at: usize| DotRow {
        label: format!("policy-{at}-of-some-length"),
        dots: vec![Some(Value::exact(1.0 + 0.013 * at as f64)), None],
    };
    Panel {
        title: title.into(),
        content: Content::Dots {
            x: Axis::linear("time over packed's", "").up_to(1.12),
            marks: vec!["2 threads".into(), "1 thread".into()],
            rows: (0..13).map(row).collect(),
            reference: Some(1.0),
        },
    }
}

/// Rows and lines of random values, some beyond the axis.
fn random(seed: u64) -> Vec<Panel> {
    let mut state = seed;
    let mut below = move |most: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let marks = 1 + below(4) as usize;
    // Studies cut values above a limit of at least twice the reference.
    let limit = 2.0 + below(200) as f64 / 100.0;
    let mut value = || {
        let at = 0.5 + below(400) as f64 / 100.0;
        Value {
            at,
            low: at * (1.0 - below(50) as f64 / 100.0),
            high: at * (1.0 + below(100) as f64 / 100.0),
        }
    };
    let rows = (0..13).map(|at| DotRow {
        label: format!("policy-{at}"),
        dots: (0..marks).map(|_| Some(value())).collect(),
    });
    let dots = Content::Dots {
        x: Axis::linear("time over packed's", "").up_to(limit),
        rows: rows.collect(),
        marks: (0..marks).map(|mark| format!("{mark} threads")).collect(),
        reference: Some(1.0),
    };
    let series = NAMES.map(|name| {
        let point = |power: i32| Point {
            x: 2_f64.powi(power),
            y: value(),
        };
        Series::measured(name, (1..=8).map(point).collect())
    });
    let lines = Content::Lines {
        x: Axis::logarithmic("cores", ""),
        // Studies cut few points.
        y: Axis::linear("time", "us").up_to(4.1),
        series: series.into(),
    };
    let panel = |content| Panel {
        title: "any".into(),
        content,
    };
    [dots, lines].map(panel).into()
}

fn bars(title: &str) -> Panel {
    Panel {
        title: title.into(),
        content: Content::Bars {
            x: Axis::linear("time of all cores, tp = 1", ""),
            parts: ["user", "system", "idle", "I/O"].map(String::from).into(),
            rows: vec![
                ("tp".into(), vec![0.6, 0.1, 0.3, 0.0]),
                ("elastic".into(), vec![0.6, 0.0, 0.02, 0.0]),
            ],
        },
    }
}

fn figure(panels: Vec<Panel>) -> Figure {
    Figure {
        part: String::new(),
        message: "A message that is so long that it takes more than a line < in one column".into(),
        note: "What is shown (simulated: atac-64)".into(),
        panels,
    }
}

fn all() -> Vec<Figure> {
    vec![
        figure(vec![lines("together", 0.0)]),
        figure(vec![lines("a", 0.5), lines("b", 7.0), lines("c", 60.0)]),
        figure((0..5).map(|at| dots(&format!("program {at}"))).collect()),
        figure(vec![bars("bt"), bars("cg")]),
    ]
}

/// The left, top, right and bottom of each text.
fn boxes(canvas: &Canvas) -> Vec<([f64; 4], &str)> {
    let texts = canvas.shapes.iter().filter_map(|shape| match shape {
        Shape::Text {
            at,
            text,
            size,
            bold,
            anchor,
            ..
        } if !text.is_empty() => {
            let wide = font::width(text, *size, *bold);
            let left = match anchor {
                Anchor::Start => at.0,
                Anchor::Middle => at.0 - wide / 2.0,
                Anchor::End => at.0 - wide,
            };
            let around = [left, at.1 - 0.72 * size, left + wide, at.1 + 0.2 * size];
            Some((around, &**text))
        }
        _ => None,
    });
    texts.collect()
}

#[test]
fn no_text_overlaps_another_or_leaves_the_sheet() {
    for width in [232.0, 250.0, 502.0, 800.0] {
        let any = (0..100).flat_map(random).map(|panel| figure(vec![panel]));
        for figure in all().into_iter().chain(any) {
            let canvas = figure.draw(width);
            let boxes = boxes(&canvas);
            for (at, (a, text)) in boxes.iter().enumerate() {
                let inside = a[0] >= -4.0 && a[2] <= width + 4.0 && a[3] <= canvas.height + 4.0;
                assert!(inside, "{text} at {a:?} of {width} x {}", canvas.height);
                for (b, other) in &boxes[..at] {
                    let apart = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
                    assert!(apart, "{width}: {text} {a:?} on {other} {b:?}");
                }
            }
        }
    }
}

#[test]
fn no_point_is_left_out() {
    // Points of two of the six lines are beyond the axis, so their values are written.
    let canvas = figure(vec![lines("c", 60.0)]).draw(400.0);
    let texts: Vec<&str> = boxes(&canvas).into_iter().map(|text| text.1).collect();
    assert_eq!(texts.iter().filter(|&&text| text == "400").count(), 10);
    for name in NAMES {
        assert!(texts.contains(&name), "{texts:?}");
    }
    let canvas = figure(vec![dots("p")]).draw(400.0);
    let texts: Vec<&str> = boxes(&canvas).into_iter().map(|text| text.1).collect();
    for beyond in ["1.13", "1.14", "1.16"] {
        assert!(texts.contains(&beyond), "{texts:?}");
    }
}

#[test]
fn bars_of_no_length_are_not_drawn() {
    let strokes = |low, high| {
        let point = |x: f64| Point {
            x,
            y: Value { at: 5.0, low, high },
        };
        let panel = Panel {
            title: "t".into(),
            content: Content::Lines {
                x: Axis::linear("x", ""),
                y: Axis::linear("y", ""),
                series: vec![Series::measured("sense", vec![point(1.0), point(2.0)])],
            },
        };
        let shapes = figure(vec![panel]).draw(300.0).shapes;
        let thin = |shape: &&Shape| matches!(shape, Shape::Path { stroke: Some(stroke), .. } if stroke.width == 0.7);
        shapes.iter().filter(thin).count()
    };
    // Each point has a stem and two caps.
    assert_eq!((strokes(4.0, 6.0), strokes(5.0, 5.0)), (6, 0));
}

#[test]
fn means_have_bands_and_the_numbers_of_others_have_no_names() {
    let points = || {
        vec![
            Point::new(1.0, Value::exact(2.0)),
            Point::new(2.0, Value::exact(3.0)),
        ]
    };
    let series = vec![
        Series::published("packed, 2022", points()).coloured_as("packed"),
        Series::estimated("packed", points()),
    ];
    let panel = Panel::lines("t", Axis::linear("x", ""), Axis::linear("y", ""), series);
    let drawn = figure(vec![panel]);
    let shapes = drawn.draw(300.0).shapes;
    let bands = shapes.iter().filter_map(|shape| match shape {
        Shape::Band { ink, opacity, .. } => Some((*ink, *opacity)),
        _ => None,
    });
    let bands: Vec<_> = bands.collect();
    assert_eq!(bands.len(), 2);
    assert!(
        bands[0].0 == bands[1].0 && bands[0].1 < bands[1].1,
        "{bands:?}"
    );
    let has = |name: &str| {
        let mut texts = shapes.iter();
        texts.any(|shape| matches!(shape, Shape::Text { text, .. } if text == name))
    };
    assert!(has("packed") && !has("packed, 2022"));
    let form = FigureForm::parse(&["format=pdf".into()]).unwrap();
    let pdf = &form.files("x", &drawn).unwrap()[0].1;
    let has = |part: &[u8]| pdf.windows(part.len()).any(|window| window == part);
    assert!(has(b"/O220 gs") && has(b"/O80 gs") && has(b"/ca 0.22"));
}

/// A line with narrow and with wide ranges.
fn band(y: Axis, high: [f64; 3]) -> Figure {
    let point = |x: f64, high| {
        let (at, low) = (5.0, 4.0);
        Point::new(x, Value { at, low, high })
    };
    let points = [
        point(1.0, high[0]),
        point(2.0, high[1]),
        point(3.0, high[2]),
    ];
    let series = Series::estimated("packed", points.to_vec());
    figure(vec![Panel::lines("t", Axis::linear("x", ""), y, [series])])
}

#[test]
fn a_band_that_continues_beyond_the_frame_is_cut_with_an_arrow() {
    for limit in [None, Some(6.4)] {
        let axis = || match limit {
            Some(most) => Axis::linear("y", "").up_to(most),
            None => Axis::linear("y", ""),
        };
        let drawn = |high| {
            let shapes = band(axis(), high).draw(300.0).shapes;
            let arrows = shapes.iter().filter(|shape| {
                matches!(shape, Shape::Path { points, stroke: Some(stroke), .. }
                    if stroke.width == 0.7 && points.len() == 3)
            });
            let arrows = arrows.count();
            let area = shapes.into_iter().find_map(|shape| match shape {
                Shape::Band { points, .. } => Some(points),
                _ => None,
            });
            (arrows, area.unwrap())
        };
        let (arrows, area) = drawn([6.0, 6.0, 6.0]);
        assert_eq!((arrows, area.len()), (0, 6));
        let (arrows, area) = drawn([6.0, 600.0, 6.0]);
        assert_eq!(arrows, 1);
        // The flanks rise to the cut almost as steeply as to the end of the range.
        let top = area.iter().map(|point| point.1).fold(f64::MAX, f64::min);
        let middle = area[1].0;
        let flanks: Vec<f64> = area
            .iter()
            .filter(|point| point.1 == top)
            .map(|point| point.0)
            .collect();
        let wide = (area[2].0 - area[0].0) / 2.0;
        assert_eq!(flanks.len(), 2, "{area:?}");
        let is_far = |x: &f64| (x - middle).abs() > 0.95 * wide;
        assert!(flanks.iter().all(is_far), "{area:?}");
    }
}

#[test]
fn an_svg_is_xml_and_holds_its_figure() {
    let form = FigureForm::parse(&["width=85mm".into()]).unwrap();
    for figure in all() {
        let files = form.files("x", &figure).unwrap();
        assert_eq!((files.len(), &*files[0].0), (1, "x.svg"));
        let svg = String::from_utf8(files[0].1.clone()).unwrap();
        let document = Document::parse(&svg).unwrap();
        let root = document.root_element();
        assert_eq!(root.attribute("width"), Some("85.00mm"));
        assert_eq!(Figure::in_svg(&svg), Some(figure));
        assert_eq!(Figure::in_svg("<svg/>"), None);
    }
}

#[test]
fn an_edited_svg_with_more_dots_than_marks_is_no_figure() {
    let form = FigureForm::default();
    let mut edited = figure(vec![dots("p")]);
    let Content::Dots { marks, .. } = &mut edited.panels[0].content else {
        unreachable!("a panel of dots");
    };
    marks.clear();
    let data = serde_json::to_string(&edited).unwrap();
    let svg = format!("<svg><metadata>{}</metadata></svg>", escape(&data));
    let read = Figure::in_svg(&svg);
    if let Some(read) = &read {
        let _ = form.files("x", read);
    }
    assert_eq!(read, None);
}

#[test]
fn panels_and_formats_are_files() {
    let pairs = ["format=svg,pdf", "panels=single"].map(String::from);
    let form = FigureForm::parse(&pairs).unwrap();
    let files = form.files("x", &all()[1]).unwrap();
    let names: Vec<&str> = files.iter().map(|file| &*file.0).collect();
    assert_eq!(
        names,
        [
            "x.panel-1.svg",
            "x.panel-1.pdf",
            "x.panel-2.svg",
            "x.panel-2.pdf",
            "x.panel-3.svg",
            "x.panel-3.pdf"
        ]
    );
    let pdf = &files[1].1;
    assert!(pdf.starts_with(b"%PDF-1.7") && pdf.ends_with(b"%%EOF"));
    let text = String::from_utf8_lossy(pdf);
    assert!(text.contains("/Helvetica-Bold") && text.contains("(dissemination) Tj"));
}
