import Darkroom
import DarkroomCoordinator

/// URLs as a photo list.
struct URLList: PhotoListSource {
    let urls: [String]

    func rewind() {}

    func read(_ receive: (_ name: UnsafeRawBufferPointer, _ url: UnsafeRawBufferPointer) -> Bool) {
        for url in urls {
            let name = PhotoURL.name(of: url)
            let goesOn = Array(name.utf8).withUnsafeBytes { name in
                Array(url.utf8).withUnsafeBytes { receive(name, $0) }
            }
            guard goesOn else { return }
        }
    }
}
