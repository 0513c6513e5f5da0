internal import CImaging
import DarkroomRecipes
internal import Glibc

/// The filters that change each pixel on its own, as matrices and exponents for the components red, green and blue, 0
/// to 1. The matrices are those of [Filter Effects](https://www.w3.org/TR/filter-effects-1/#ShorthandEquivalents).
extension Filter {
    /// The point for this filter; nil if the filter also depends on other pixels.
    var point: darkroom_point? {
        switch kind {
        case .sepia: .mix(.sepia, share: number("amount"))
        case .grayscale: .mix(.luminance, share: number("amount"))
        case .saturate: .mix(.saturationZero, share: 1 - number("amount"))
        case .hueRotate: .hueRotation(degrees: number("angle"))
        case .invert: .scale(1 - 2 * number("amount"), plus: number("amount"))
        case .brightness: .scale(number("amount"), plus: 0)
        case .contrast: .scale(number("amount"), plus: 0.5 - 0.5 * number("amount"))
        case .gamma: .power(1 / number("gamma"))
        case .tint: .mix(.gradient(from: .black, to: colour("colour")), share: number("amount"))
        case .duotone: .affine(.gradient(from: colour("dark"), to: colour("light")))
        case .matrix: .affine(Matrix(numbers("values")))
        default: nil
        }
    }
}

/// Three rows of four numbers: the factors of red, green and blue, and a constant.
struct Matrix: Equatable {
    var rows: [[Double]]

    init(rows: [[Double]]) { self.rows = rows }

    /// A matrix of nine numbers has no constants.
    init(_ numbers: [Double]) {
        let columns = numbers.count / 3
        rows = (0..<3).map { row in
            Array(numbers[row * columns..<(row + 1) * columns]) + (columns == 3 ? [0] : [])
        }
    }

    static let sepia = Matrix([0.393, 0.769, 0.189, 0.349, 0.686, 0.168, 0.272, 0.534, 0.131])
    static let identity = Matrix([1, 0, 0, 0, 1, 0, 0, 0, 1])
    static let luminance = Matrix(rows: Array(repeating: [0.2126, 0.7152, 0.0722, 0], count: 3))
    /// The matrix of saturate(0), which uses other luminance coefficients than grayscale.
    static let saturationZero = Matrix(rows: Array(repeating: [0.213, 0.715, 0.072, 0], count: 3))

    /// Maps luminance 0 to one colour, and luminance 1 to another.
    static func gradient(from dark: Colour, to light: Colour) -> Matrix {
        Matrix(
            rows: zip(dark.components, light.components).prefix(3).map { dark, light in
                luminance.rows[0].prefix(3).map { $0 * (light - dark) / 255 } + [dark / 255]
            })
    }
}

extension darkroom_point {
    static func affine(_ matrix: Matrix) -> darkroom_point {
        var point = darkroom_point()
        point.kind = DARKROOM_AFFINE
        point.setValues(matrix.rows.flatMap { $0 })
        return point
    }

    /// The matrix with the weight `share` and the identity with the weight `1 - share`.
    static func mix(_ matrix: Matrix, share: Double) -> darkroom_point {
        affine(
            Matrix(
                rows: zip(matrix.rows, Matrix.identity.rows).map { row, identity in
                    zip(row, identity).map { $0 * share + $1 * (1 - share) }
                }))
    }

    /// Multiplies each component, and adds a constant.
    static func scale(_ factor: Double, plus constant: Double) -> darkroom_point {
        affine(Matrix(rows: (0..<3).map { row in (0..<3).map { $0 == row ? factor : 0 } + [constant] }))
    }

    static func power(_ exponent: Double) -> darkroom_point {
        var point = darkroom_point()
        point.kind = DARKROOM_POWER
        point.setValues([exponent])
        return point
    }

    static func hueRotation(degrees: Double) -> darkroom_point {
        let (sine, cosine) = (sin(degrees * .pi / 180), cos(degrees * .pi / 180))
        let still = [0.213, 0.715, 0.072]
        let ofCosine = [[0.787, -0.715, -0.072], [-0.213, 0.285, -0.072], [-0.213, -0.715, 0.928]]
        let ofSine = [[-0.213, -0.715, 0.928], [0.143, 0.140, -0.283], [-0.787, 0.715, 0.072]]
        var numbers: [Double] = []
        for row in 0..<3 {
            for column in 0..<3 {
                numbers.append(still[column] + cosine * ofCosine[row][column] + sine * ofSine[row][column])
            }
        }
        return affine(Matrix(numbers))
    }

    private mutating func setValues(_ numbers: [Double]) {
        withUnsafeMutableBytes(of: &values) { bytes in
            let values = bytes.bindMemory(to: Double.self)
            for (index, number) in numbers.enumerated() { values[index] = number }
        }
    }

    /// Whether grey pixels stay grey: the rows have the same sum and the same constant.
    var keepsGrey: Bool {
        guard kind == DARKROOM_AFFINE else { return true }
        let numbers = withUnsafeBytes(of: values) { Array($0.bindMemory(to: Double.self)) }
        func sum(_ row: Int) -> Double { numbers[4 * row] + numbers[4 * row + 1] + numbers[4 * row + 2] }
        return (1...2).allSatisfy { row in
            abs(sum(row) - sum(0)) < 1e-9 && abs(numbers[4 * row + 3] - numbers[3]) < 1e-9
        }
    }
}
