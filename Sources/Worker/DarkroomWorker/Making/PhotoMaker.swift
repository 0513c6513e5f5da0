import DarkroomImaging
import DarkroomModel
import DarkroomRecipes
import Foundation

/// Makes the files of photos from their bytes.
package struct PhotoMaker: Sendable {
    private let recipe: PhotoRecipe
    private let helpers: PhotoHelpers?
    private let isolatesEverything: Bool

    /// - Parameters:
    ///   - helpers: the helper processes; nil makes everything in this process.
    ///   - isolatesEverything: whether everything that can run in a helper process does so; otherwise only decoders and
    ///     encoders that cannot be stopped run in a helper process.
    package init(_ recipe: PhotoRecipe, helpers: PhotoHelpers? = nil, isolatesEverything: Bool = false) {
        self.recipe = recipe
        self.helpers = helpers
        self.isolatesEverything = isolatesEverything
    }

    /// Makes a file for each rendition of the recipe, in the order of the renditions. Blocks.
    /// - Parameters:
    ///   - record: the photo, for custom filters.
    ///   - isCancelled: called often, on any thread.
    package func make(
        _ bytes: [UInt8], of record: PhotoRecord, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(PhotoProduct.Failure) -> [PhotoProduct] {
        let photo = Photo(record: record, isCancelled: isCancelled)
        let stages = recipe.renditions.map { $0.stages(recipe.takesPNG) }
        // Renditions without custom filters share one decoding.
        var shared: [ImageOutput] = []
        for (rendition, stages) in zip(recipe.renditions, stages) {
            guard stages.count == 1, case .develop(var options) = stages[0] else { continue }
            options.rendition = rendition.name
            shared.append(options)
        }
        var developed = shared.isEmpty ? [] : try develop(bytes, shared, isCancelled)[...]
        var products: [PhotoProduct] = []
        for (rendition, stages) in zip(recipe.renditions, stages) {
            if stages.count == 1, case .develop = stages[0] {
                products.append(developed.removeFirst())
            } else {
                do throws(PhotoProduct.Failure) {
                    products.append(try run(stages, of: rendition, on: bytes, photo))
                } catch {
                    throw error.of(rendition: rendition.name)
                }
            }
        }
        return products
    }

    private struct Photo {
        let record: PhotoRecord
        let isCancelled: @Sendable () -> Bool
    }

    private func run(
        _ stages: [PhotoRendition.Stage], of rendition: PhotoRendition, on bytes: [UInt8], _ photo: Photo
    ) throws(PhotoProduct.Failure) -> PhotoProduct {
        var product = PhotoProduct(bytes, ending: "")
        var earlier: PhotoFilter.Custom?
        for stage in stages {
            let note = product.note
            let lostGainMap = product.lostGainMap
            switch stage {
            case .develop(let options):
                do throws(PhotoProduct.Failure) {
                    product = try develop(product.bytes, [options], photo.isCancelled)[0]
                } catch {
                    throw earlier.map { error.of(resultOf: $0) } ?? error
                }
            case .custom(let custom):
                product = try run(custom, of: rendition, on: product.bytes, photo)
                earlier = custom
            }
            product.note = note ?? product.note
            if lostGainMap { product.lostGainMap = true }
        }
        return product
    }

    private func develop(
        _ bytes: [UInt8], _ outputs: [ImageOutput], _ isCancelled: @escaping @Sendable () -> Bool
    ) throws(PhotoProduct.Failure) -> [PhotoProduct] {
        var options = recipe.limits
        options.outputs = outputs
        if let helpers, isolatesEverything || !Imaging.canAlwaysStop(bytes, options) {
            return try helpers.develop(options, bytes, isCancelled: isCancelled)
        }
        return try Self.develop(bytes, options, isCancelled: isCancelled)
    }

    private func run(
        _ custom: PhotoFilter.Custom, of rendition: PhotoRendition, on bytes: [UInt8], _ photo: Photo
    ) throws(PhotoProduct.Failure) -> PhotoProduct {
        guard let filter = recipe.customFilters[custom.name] else {
            throw PhotoProduct.Failure(reason: .other, detail: "this worker has no custom filter \"\(custom.name)\"")
        }
        let result: [UInt8]
        switch filter {
        case .command(let command):
            var input = CommandPhoto(bytes: bytes, record: photo.record, batch: recipe.batch)
            input.rendition = rendition.name
            input.arguments = custom.arguments
            result = try command.run(input, isCancelled: photo.isCancelled)
        case .registered(let make):
            if let helpers, isolatesEverything {
                result = try helpers.run(
                    custom, photo.record, bytes, maxPixels: recipe.limits.maxPixels, isCancelled: photo.isCancelled)
            } else {
                result = try Self.run(
                    make(), custom, photo.record, bytes, recipe.limits, isCancelled: photo.isCancelled)
            }
        }
        return PhotoProduct(result, ending: CustomEnding.of(result, photo.record))
    }

    // MARK: - In this process

    static func develop(
        _ bytes: [UInt8], _ options: DevelopOptions, sizeIsKnown: @escaping (Int) -> Void = { _ in },
        isCancelled: @Sendable () -> Bool = { false }
    ) throws(PhotoProduct.Failure) -> [PhotoProduct] {
        do throws(ImagingError) {
            return try Imaging.develop(bytes, options, sizeIsKnown: sizeIsKnown, isCancelled: isCancelled)
                .map { PhotoProduct($0) }
        } catch {
            throw PhotoProduct.Failure(error)
        }
    }

    /// Runs a custom filter. When the filter has used the CPU time of `limits`, `isCancelled` of its photo becomes
    /// true, so that the filter can stop.
    static func run(
        _ filter: any CustomFilter, _ custom: PhotoFilter.Custom, _ record: PhotoRecord, _ bytes: [UInt8],
        _ limits: DevelopOptions, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(PhotoProduct.Failure) -> [UInt8] {
        let clock = limits.processorTime.map { ProcessorClock(limit: $0) }
        var photo = DownloadedPhoto(record: record, bytes: bytes, arguments: custom.arguments) {
            isCancelled() || clock?.check() == true
        }
        photo.maxPixels = limits.maxPixels
        do {
            let bytes = try filter.main(photo)
            guard let clock, clock.isExhausted else { return bytes }
            throw PhotoProduct.Failure(reason: .filterTimeout, detail: clock.problem)
        } catch let failure as PhotoProduct.Failure {
            throw failure
        } catch {
            // After a cancellation, any error means that the filter has stopped.
            if isCancelled() { throw PhotoProduct.Failure.cancelled }
            if let clock, clock.isExhausted {
                throw PhotoProduct.Failure(reason: .filterTimeout, detail: clock.problem)
            }
            let text = (error as? any LocalizedError)?.errorDescription ?? "\(error)"
            throw PhotoProduct.Failure(reason: .filterFailed, detail: HelperAnswer.cut(text))
        }
    }
}
