//! Read, Write and Call over shared memory allocate nothing at either end: client and Provider are in one process,
//! whose allocations are counted at malloc level.

use std::sync::Arc;

use takt_app::serve::ServeOptions;
use takt_app::{Client, ClientOptions, Method, Provider, Variable};
use takt_cell::Cell;
use takt_space::{MethodCall, OutputArguments};
use takt_ua::{ArrayRef, BuiltInType, NodeId, Variant, VariantRef};

const REQUESTS: usize = 5_000;

#[test]
fn requests_allocate_nothing() {
    takt_malloc::alone(|| {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let numbers: Vec<u32> = (0..1024).collect();
        let array = Arc::new(Cell::of(&Variant::from(numbers.clone())));
        let _provider = Provider::builder("NoAllocations")
            .without_registry()
            .variable(Variable::stored("Number", 1.5_f64).writable())
            .variable(Variable::cell("Array", &array).writable())
            .method(
                Method::in_place(
                    "Echo",
                    |call: &MethodCall<'_>, outputs: &mut OutputArguments<'_, '_>| {
                        call.inputs().for_each(|input| outputs.push(&input));
                        Ok(())
                    },
                )
                .inline()
                .input("Value", BuiltInType::Double),
            )
            .serve(ServeOptions {
                runtime_directory: Some(directory.path().to_path_buf()),
                ..ServeOptions::default()
            })
            .start()
            .unwrap();
        let options = ClientOptions {
            runtime_directory: Some(directory.path().to_path_buf()),
            ..ClientOptions::named("Test")
        };
        let endpoint = "opc.iox2://NoAllocations".parse().unwrap();
        let mut client = Client::connect(&endpoint, options).unwrap();
        let node = |path: &str| NodeId::string(1, path);
        let (number, array, echo) = (node("Number"), node("Array"), node("Echo"));
        let object = NodeId::numeric(1, takt_app::model::provider::OBJECT);
        let mut copy = vec![0_u32; numbers.len()];
        let mut requests = |client: &mut Client| {
            let value = client.read_in_place(&number, |value| value.get::<f64>(0));
            assert!(value.unwrap().is_some());
            let count = client.read_in_place(&array, |value| value.copy_to(&mut copy));
            assert_eq!(count.unwrap(), Some(1024));
            let value = VariantRef::Double(2.5);
            client.write_in_place(&number, &value).unwrap();
            let slice = VariantRef::Array(ArrayRef::from_u32s(&numbers));
            client.write_in_place(&array, &slice).unwrap();
            let echoed = client.call_in_place(&object, &echo, &[value], |outputs| {
                outputs.get(0).and_then(|output| output.get::<f64>(0))
            });
            assert_eq!(echoed.unwrap(), Some(2.5));
        };
        // The first requests may allocate: buffers grow to their sizes.
        for _ in 0..200 {
            requests(&mut client);
        }
        let allocations = takt_malloc::least(|| (0..REQUESTS).for_each(|_| requests(&mut client)));
        assert_eq!(allocations, 0);
    });
}
