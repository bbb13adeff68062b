//! Users who get the keys of a SecurityGroup: its creator, the registry's user, and the listed users.

use takt_app::{Client, Endpoint};
use takt_ua::{NodeId, StatusCode, Variant, ids};

use crate::groups::shared::{ANNA, BERT, CARL, Shared, User, as_user};

/// Runs a function with a client of this user.
fn with_client<R: Send>(
    shared: &Shared,
    user: User,
    work: impl FnOnce(&mut Client) -> Result<R, takt_app::ClientError> + Send,
) -> Result<R, StatusCode> {
    let url = format!("opc.iox2://{}", shared.application("Registry"));
    let endpoint: Endpoint = url.parse().unwrap();
    as_user(user, || {
        let mut client = Client::connect(&endpoint, shared.options()).unwrap();
        work(&mut client).map_err(|error| error.status_code())
    })
}

fn keys(shared: &Shared, user: User, group: &str) -> Result<u32, StatusCode> {
    let update = with_client(shared, user, |client| client.get_security_keys(group, 2))?;
    assert_eq!(update.keys.len(), 2);
    Ok(update.first_token_id)
}

fn remove(shared: &Shared, user: User, group: &NodeId) -> Result<(), StatusCode> {
    let inputs = vec![Variant::from(group.clone())];
    let removed = with_client(shared, user, |client| {
        client.call_method(
            &NodeId::from(ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS),
            &NodeId::from(ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS_REMOVE_SECURITY_GROUP),
            inputs,
        )
    });
    removed.map(drop)
}

pub fn only_permitted_users_get_keys() {
    let shared = Shared::new();
    let plant = format!("Plant=PubSub-Aes128-CTR:{}", BERT.id);
    let _registry = shared.registry_with(ANNA, &["--security-group", &plant]);
    let denied = Err(StatusCode::BadUserAccessDenied);
    // A member of the Unix group can only send requests.
    assert!(keys(&shared, ANNA, "Plant").is_ok());
    assert!(keys(&shared, BERT, "Plant").is_ok());
    assert_eq!(keys(&shared, CARL, "Plant"), denied);

    let added = with_client(&shared, CARL, |client| {
        client.call_method(
            &NodeId::from(ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS),
            &NodeId::from(ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS_ADD_SECURITY_GROUP),
            vec![
                "Cell".into(),
                0.0.into(),
                "".into(),
                0_u32.into(),
                0_u32.into(),
            ],
        )
    });
    let Some(Variant::NodeId(cell)) = added.unwrap().pop() else {
        panic!("no NodeId");
    };
    assert!(keys(&shared, CARL, "Cell").is_ok());
    assert!(keys(&shared, ANNA, "Cell").is_ok());
    assert_eq!(keys(&shared, BERT, "Cell"), denied);
    assert_eq!(
        remove(&shared, BERT, &cell),
        Err(StatusCode::BadUserAccessDenied)
    );
    // A listed user gets the keys, but may not remove the group.
    let plant = NodeId::string(1, "SecurityGroups/Plant");
    assert_eq!(
        remove(&shared, BERT, &plant),
        Err(StatusCode::BadUserAccessDenied)
    );
    assert_eq!(remove(&shared, CARL, &cell), Ok(()));
    assert_eq!(keys(&shared, CARL, "Cell"), Err(StatusCode::BadNotFound));
}
