/// A queue: appended at the end, taken from the front, both in constant time on average.
struct Fifo<Element> {
    private var elements: [Element?] = []  // nil before `head`: what was taken is not kept alive
    private var head = 0

    var isEmpty: Bool { head == elements.count }

    /// The oldest element, which must be there.
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

    /// Empties the queue and returns what was in it, oldest first.
    mutating func removeAll() -> [Element] {
        defer { self = Fifo() }
        return elements[head...].compactMap { $0 }
    }
}
