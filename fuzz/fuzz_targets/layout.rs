//! The fixed layout of Read, Write and Call: every accepted message lies within its bytes, and the work for a request
//! is bounded by its length.

use takt_fuzz::choice;
use takt_layout::{LaidOut, MARK, RequestReader, ResponseReader, Service, VERSION};
use takt_rt::shared_bytes::SharedBytes;
use takt_ua::structures::{CallRequest, ReadRequest, WriteRequest};

fn check_request(message: &[u8]) {
    let Ok(request) = RequestReader::parse(message, takt_fuzz::LIMITS) else {
        return;
    };
    let mut items = request.items();
    let mut bytes = 0;
    for _ in 0..request.count() {
        match request.service() {
            Service::Read => drop(items.read()),
            Service::Write => {
                if let Ok(item) = items.write() {
                    bytes += item.value.map_or(0, |(_, encoded)| encoded.len());
                }
            }
            Service::Call => {
                if let Ok(item) = items.call() {
                    for index in 0..item.input_arguments.len() {
                        assert!(item.input_arguments.get(index).is_some(), "it was checked");
                    }
                    bytes += 8 * item.input_arguments.len();
                }
            }
        }
    }
    assert!(bytes <= message.len(), "no byte is pointed to twice");
}

fn check_response(message: &[u8]) {
    for service in [Service::Read, Service::Write, Service::Call] {
        let Ok(Some(response)) = ResponseReader::parse(SharedBytes::of_slice(message), service)
        else {
            continue;
        };
        for index in 0..response.count() {
            if let Ok(record) = response.data_value(index) {
                assert!(record.value.end <= message.len());
            }
            if let Ok(result) = response.call_result(index) {
                assert!(4 * result.input_argument_results().count() <= message.len());
                for output in 0..result.output_count() {
                    if let Ok(place) = result.output(output) {
                        assert!(place.end <= message.len());
                    }
                }
            }
        }
    }
    let _ = ReadRequest::parse_response(message);
    let _ = WriteRequest::parse_response(message);
    let _ = CallRequest::parse_response(message);
}

pub(crate) fn run(data: &[u8]) {
    check_request(data);
    check_response(data);
    // With a valid head, which random bytes rarely produce.
    let Some((kind, rest)) = choice(data) else {
        return;
    };
    let mut message = vec![MARK, VERSION, kind % 7, 0, 1 + kind / 7 % 4, 0, 0, 0];
    message.resize(48, 0);
    message.extend(rest);
    check_request(&message);
    check_response(&message);
}
