/// Decides for each photo of a list, in order, whether it belongs to a random sample. All samples of a size are equally
/// likely (Knuth, The Art of Computer Programming 2, section 3.4.2, algorithm S).
struct PhotoSampling {
    /// The number of photos still to be taken, and the number of photos in the list that are not decided yet.
    private var (missing, left): (Int, Int)
    private var state: UInt64

    init(_ sample: PhotoSelection.Sample, of listedPhotos: Int) {
        (missing, left) = (min(sample.photos, listedPhotos), listedPhotos)
        state = UInt64(bitPattern: Int64(sample.seed))
    }

    var isComplete: Bool { missing == 0 }

    /// Whether the next photo of the list belongs to the sample. Photos that were appended to the list after it was
    /// counted do not belong to the sample.
    mutating func takesNext() -> Bool {
        guard missing > 0 else { return false }
        let number = random(below: left)
        left -= 1
        guard number < missing else { return false }
        missing -= 1
        return true
    }

    /// A number from 0 to `bound` - 1. The standard library's generators and ranges may give other numbers in another
    /// version, so the numbers are computed here.
    private mutating func random(below bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// SplitMix64 (Steele, Lea and Flood 2014).
    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
