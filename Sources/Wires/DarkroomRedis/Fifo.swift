/// A first-in, first-out queue. Appending and removing take amortized constant time.
struct Fifo<Element> {
    private var elements: [Element?] = []  // elements before `head` are nil, so that they are freed
    private var head = 0

    var isEmpty: Bool { head == elements.count }

    /// The oldest element. The queue must not be empty.
    var first: Element {
        get { elements[head].unsafelyUnwrapped }
        set { elements[head] = newValue }
    }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeFirst() {
        elements[head] = nil
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: elements.count < 1024)
            head = 0
        } else if head >= 1024 && head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
    }

    /// Empties the queue and returns its elements, oldest first.
    mutating func removeAll() -> [Element] {
        defer { self = Fifo() }
        return elements[head...].compactMap { $0 }
    }
}
