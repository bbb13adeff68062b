//! Requests for one Provider: which is sent next, which are sent, and when the time of each is over. It has neither
//! clock nor connection.
//!
//! Clients take turns, so that a client with many requests delays another one by one request at a time. A request
//! keeps its place on the connection until the Provider has answered it, also when its time is over before.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::{Duration, Instant};

/// Largest number of requests that the Provider has at a time.
const MAX_SENT: usize = 32;
/// Largest length in bytes of the requests that the Provider has at a time; a longer one is sent alone. They fit into
/// the buffers of the connection, so sending does not wait for a Provider that waits until its responses are received.
const MAX_SENT_SIZE: usize = 64 << 10;
/// Time after the deadline of a request after which a Provider without a response counts as stuck.
const STUCK: Duration = Duration::from_secs(10);

/// Requests of all clients for one Provider.
pub(super) struct Queue<T> {
    requests: HashMap<u64, Request<T>>,
    last_number: u64,
    deadlines: BTreeSet<(Instant, u64)>,
    /// Numbers of the requests that were not sent yet, by client. Requests whose time is over may still be here.
    waiting: HashMap<u64, VecDeque<u64>>,
    /// Clients with requests that were not sent yet; the first one is next.
    turns: VecDeque<u64>,
    /// Numbers of the requests without a response, by RequestId.
    sent: HashMap<u32, u64>,
    sent_size: usize,
}

struct Request<T> {
    client: u64,
    size: usize,
    deadline: Instant,
    request_id: Option<u32>,
    /// True if the Provider has refused it once without executing it.
    refused: bool,
    /// `None` if its time is over.
    item: Option<T>,
}

/// Requests whose time is over.
pub(super) struct Expired<T> {
    pub(super) items: Vec<T>,
    /// True if the Provider is stuck.
    pub(super) is_stuck: bool,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            requests: HashMap::new(),
            last_number: 0,
            deadlines: BTreeSet::new(),
            waiting: HashMap::new(),
            turns: VecDeque::new(),
            sent: HashMap::new(),
            sent_size: 0,
        }
    }
}

impl<T> Queue<T> {
    /// Adds a request of `size` bytes.
    pub(super) fn push(&mut self, client: u64, size: usize, deadline: Instant, item: T) {
        let number = self.add(client, size, deadline, item);
        self.queue_of(client).push_back(number);
    }

    /// Adds a request of `size` bytes before the others of its client.
    pub(super) fn push_first(&mut self, client: u64, size: usize, deadline: Instant, item: T) {
        let number = self.add(client, size, deadline, item);
        self.queue_of(client).push_front(number);
    }

    fn add(&mut self, client: u64, size: usize, deadline: Instant, item: T) -> u64 {
        self.last_number += 1;
        let number = self.last_number;
        self.deadlines.insert((deadline, number));
        let request = Request {
            client,
            size,
            deadline,
            request_id: None,
            refused: false,
            item: Some(item),
        };
        self.requests.insert(number, request);
        number
    }

    fn queue_of(&mut self, client: u64) -> &mut VecDeque<u64> {
        let turns = &mut self.turns;
        self.waiting.entry(client).or_insert_with(|| {
            turns.push_back(client);
            VecDeque::new()
        })
    }

    /// Returns the request that is to be sent now, if the Provider may have another one.
    pub(super) fn next(&mut self) -> Option<&T> {
        let number = self.next_number()?;
        let size = self.requests.get(&number)?.size;
        // A request that is larger than the limit is sent alone.
        let fits = self.sent.is_empty()
            || self.sent.len() < MAX_SENT && self.sent_size + size <= MAX_SENT_SIZE;
        let request = self.requests.get(&number).filter(|_| fits)?;
        request.item.as_ref()
    }

    /// Returns the first request of the client whose turn it is.
    fn next_number(&mut self) -> Option<u64> {
        while let Some(client) = self.turns.front() {
            let queue = self.waiting.get_mut(client)?;
            while let Some(number) = queue.front() {
                if self.requests.contains_key(number) {
                    return Some(*number);
                }
                queue.pop_front();
            }
            self.waiting.remove(client);
            self.turns.pop_front();
        }
        None
    }

    /// Takes the number of the next request, and gives the turn to the next client.
    fn take_next(&mut self) -> Option<u64> {
        let number = self.next_number()?;
        let client = self.turns.pop_front()?;
        if let Some(queue) = self.waiting.get_mut(&client) {
            queue.pop_front();
            match queue.is_empty() {
                true => drop(self.waiting.remove(&client)),
                false => self.turns.push_back(client),
            }
        }
        Some(number)
    }

    /// Notes that the [next](Self::next) request was sent with this RequestId.
    pub(super) fn next_was_sent(&mut self, request_id: u32) {
        if let Some(number) = self.take_next()
            && let Some(request) = self.requests.get_mut(&number)
        {
            request.request_id = Some(request_id);
            self.sent_size += request.size;
            self.sent.insert(request_id, number);
        }
    }

    /// Removes the [next](Self::next) request.
    pub(super) fn remove_next(&mut self) -> Option<T> {
        let number = self.take_next()?;
        self.remove(number)?.item
    }

    fn remove(&mut self, number: u64) -> Option<Request<T>> {
        let request = self.requests.remove(&number)?;
        self.deadlines.remove(&(request.deadline, number));
        Some(request)
    }

    /// Returns a request that was sent, unless its time is over.
    pub(super) fn sent(&self, request_id: u32) -> Option<&T> {
        let number = self.sent.get(&request_id)?;
        self.requests.get(number)?.item.as_ref()
    }

    /// Notes the response to a request. Returns the request, unless its time is over.
    pub(super) fn answered(&mut self, request_id: u32) -> Option<T> {
        let number = self.sent.remove(&request_id)?;
        let request = self.remove(number)?;
        self.sent_size -= request.size;
        request.item
    }

    /// Notes that the Provider refused a request without executing it. It becomes the next one of its client, the first
    /// time; returns it the second time.
    pub(super) fn refused(&mut self, request_id: u32) -> Option<T> {
        let number = self.sent.remove(&request_id)?;
        let request = self.requests.get_mut(&number)?;
        self.sent_size -= request.size;
        // A second refusal stands. Nobody waits for a request whose time is over.
        if request.refused || request.item.is_none() {
            return self.remove(number)?.item;
        }
        request.request_id = None;
        request.refused = true;
        let client = request.client;
        self.queue_of(client).push_front(number);
        None
    }

    /// Returns the requests whose time is over. The Provider is stuck if it has not even answered long after that.
    pub(super) fn expire(&mut self, now: Instant) -> Expired<T> {
        let mut expired = Expired {
            items: Vec::new(),
            is_stuck: false,
        };
        while let Some(&(deadline, number)) = self.deadlines.first()
            && deadline <= now
        {
            self.deadlines.pop_first();
            let Some(request) = self.requests.get_mut(&number) else {
                continue;
            };
            let item = request.item.take();
            // Its item left at the first deadline, and there is still no answer.
            expired.is_stuck |= item.is_none();
            if request.request_id.is_none() {
                self.requests.remove(&number);
            } else if item.is_some() {
                // The Provider still has it: it keeps its place, so that a slow Provider does not get more at a time.
                request.deadline = deadline + STUCK;
                self.deadlines.insert((request.deadline, number));
            }
            expired.items.extend(item);
        }
        expired
    }

    /// Returns the time at which [`expire`](Self::expire) is due.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// Returns true if the Provider has requests without a response.
    pub(super) fn has_sent(&self) -> bool {
        !self.sent.is_empty()
    }

    /// Returns true if there are no requests.
    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Removes the requests that were sent, whose responses cannot arrive any more.
    pub(super) fn remove_sent(&mut self) -> Vec<T> {
        self.sent_size = 0;
        let numbers = std::mem::take(&mut self.sent).into_values();
        let removed: Vec<_> = numbers.collect();
        let items = removed
            .into_iter()
            .filter_map(|number| self.remove(number)?.item);
        items.collect()
    }

    /// Removes all requests.
    pub(super) fn remove_all(&mut self) -> Vec<T> {
        let all = std::mem::take(self).requests;
        all.into_values()
            .filter_map(|request| request.item)
            .collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// A queue of requests that are named by their client and a number.
    struct Test {
        queue: Queue<(u64, u32)>,
        start: Instant,
        last_id: u32,
    }

    impl Test {
        fn new() -> Self {
            Self {
                queue: Queue::default(),
                start: Instant::now(),
                last_id: 0,
            }
        }

        fn at(&self, seconds: u64) -> Instant {
            self.start + Duration::from_secs(seconds)
        }

        fn push(&mut self, client: u64, numbers: std::ops::Range<u32>) {
            for number in numbers {
                let deadline = self.at(5);
                self.queue.push(client, 100, deadline, (client, number));
            }
        }

        /// Sends all that may be sent.
        fn send(&mut self) -> Vec<(u64, u32)> {
            let mut sent = Vec::new();
            while let Some(item) = self.queue.next() {
                sent.push(*item);
                self.last_id += 1;
                self.queue.next_was_sent(self.last_id);
            }
            sent
        }
    }

    #[test]
    fn clients_take_turns() {
        let mut test = Test::new();
        test.push(1, 0..100);
        test.push(2, 0..2);
        let sent = test.send();
        assert_eq!(sent.len(), MAX_SENT);
        assert_eq!(sent[..6], [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2), (1, 3)]);
        // A client that comes later waits for one request of each other client.
        test.push(3, 0..1);
        assert_eq!(test.queue.answered(1), Some((1, 0)));
        assert_eq!(test.queue.answered(2), Some((2, 0)));
        assert_eq!(test.send(), [(1, 30), (3, 0)]);
    }

    #[test]
    fn the_provider_has_a_bounded_number_of_requests_and_bytes() {
        let mut test = Test::new();
        test.push(1, 0..200);
        let mut answered = 0;
        while test.queue.has_sent() || !test.queue.is_empty() {
            test.send();
            assert!(test.queue.sent.len() <= MAX_SENT);
            answered += 1;
            assert!(test.queue.answered(answered).is_some());
        }
        assert_eq!((answered, test.queue.sent_size), (200, 0));
        // A long request is sent alone, in its turn.
        let deadline = test.at(5);
        test.push(1, 0..1);
        test.queue.push(1, 2 * MAX_SENT_SIZE, deadline, (1, 1));
        test.push(1, 2..3);
        for number in 0..3 {
            assert_eq!(test.send(), [(1, number)]);
            assert!(test.queue.answered(test.last_id).is_some());
        }
        assert!(test.queue.waiting.is_empty() && test.queue.turns.is_empty());
    }

    #[test]
    fn each_wait_ends_at_its_deadline() {
        let mut test = Test::new();
        let (soon, late) = (test.at(1), test.at(2));
        test.queue.push(1, 0, late, (1, 0));
        test.queue.push(1, 0, soon, (1, 1));
        test.queue.push(2, 0, late, (2, 0));
        test.queue.next_was_sent(1);
        assert_eq!(test.queue.next_deadline(), Some(soon));
        assert!(test.queue.expire(test.start).items.is_empty());
        assert_eq!(test.queue.expire(soon).items, [(1, 1)]);
        assert_eq!(test.queue.expire(late).items, [(1, 0), (2, 0)]);
        assert!(test.queue.next().is_none());
        // The Provider still has one of them, whose response comes too late. Then nothing is left.
        assert!(test.queue.has_sent());
        assert!(!test.queue.expire(late).is_stuck);
        assert_eq!(test.queue.answered(1), None);
        assert!(test.queue.is_empty() && test.queue.next_deadline().is_none());
    }

    #[test]
    fn late_requests_keep_their_places_until_the_provider_is_stuck() {
        let mut test = Test::new();
        test.push(1, 0..40);
        assert_eq!(test.send().len(), MAX_SENT);
        assert_eq!(test.queue.expire(test.at(5)).items.len(), 40);
        test.push(2, 0..1);
        assert!(test.send().is_empty());
        let due = test.queue.next_deadline().unwrap();
        let expired = test.queue.expire(test.at(5) + STUCK);
        assert_eq!(due, test.at(5));
        assert_eq!((expired.items.len(), expired.is_stuck), (1, true));
        assert!(test.queue.remove_sent().is_empty());
        test.push(3, 0..1);
        assert_eq!(test.send(), [(3, 0)]);
    }

    #[test]
    fn a_refused_request_is_sent_once_more_before_the_others_of_its_client() {
        let mut test = Test::new();
        test.push(1, 0..40);
        test.send();
        assert_eq!(test.queue.refused(1), None);
        assert_eq!(test.send(), [(1, 0)]);
        assert_eq!(test.queue.refused(test.last_id), Some((1, 0)));
        assert_eq!(test.send(), [(1, 32)]);
    }

    #[test]
    fn a_divided_request_comes_before_the_others_of_its_client() {
        let mut test = Test::new();
        test.push(1, 0..2);
        let deadline = test.at(5);
        for part in [11, 10] {
            test.queue.push_first(1, 50, deadline, (1, part));
        }
        assert_eq!(test.send(), [(1, 10), (1, 11), (1, 0), (1, 1)]);
    }

    #[test]
    fn a_lost_connection_ends_the_requests_that_were_sent() {
        let mut test = Test::new();
        test.push(1, 0..40);
        test.send();
        let mut lost = test.queue.remove_sent();
        lost.sort_unstable();
        assert_eq!(lost, (0..32).map(|number| (1, number)).collect::<Vec<_>>());
        assert_eq!(test.queue.answered(1), None);
        assert_eq!(test.send().len(), 8);
        assert_eq!(test.queue.remove_all().len(), 8);
        assert!(test.queue.is_empty() && test.queue.next().is_none());
        assert_eq!(test.queue.next_deadline(), None);
    }

    #[test]
    fn a_request_that_cannot_be_sent_is_removed() {
        let mut test = Test::new();
        test.push(1, 0..2);
        assert_eq!(test.queue.remove_next(), Some((1, 0)));
        assert_eq!(test.send(), [(1, 1)]);
        assert_eq!(test.queue.remove_next(), None);
    }
}
