internal import CImaging
internal import Glibc

/// A width and a height in pixels, at least 1.
struct PixelSize: Equatable {
    var width: Int
    var height: Int

    /// The size of the smallest upright picture that contains this picture after a rotation.
    func rotated(degrees: Double) -> PixelSize {
        let (sine, cosine) = (abs(sin(degrees * .pi / 180)), abs(cos(degrees * .pi / 180)))
        let (width, height) = (Double(width), Double(height))
        return PixelSize(
            width: Int((width * cosine + height * sine).rounded(.up)),
            height: Int((width * sine + height * cosine).rounded(.up)))
    }
}

/// A rectangle of pixels.
struct Box: Equatable {
    var x: Int
    var y: Int
    var width: Int
    var height: Int

    var c: darkroom_box { darkroom_box(x: Int32(x), y: Int32(y), width: Int32(width), height: Int32(height)) }
}

extension Box {
    init(_ box: darkroom_box) {
        self.init(x: Int(box.x), y: Int(box.y), width: Int(box.width), height: Int(box.height))
    }
}
