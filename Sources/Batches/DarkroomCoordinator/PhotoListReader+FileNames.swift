import DarkroomLists
import DarkroomStorage

extension PhotoListReader {
    /// The default file name template for this list.
    package var standardFileNameTemplate: String {
        FileNameTemplate.standard(namesAreDistinct: namesAreDistinct, stemsAreDistinct: stemsAreDistinct)
    }

    /// The file name template in `text`; if `text` is nil, the default template for this list.
    package func fileNameTemplate(_ text: String?) throws(FileNameTemplate.Problem) -> FileNameTemplate {
        try FileNameTemplate(
            text ?? standardFileNameTemplate, namesAreUnique: namesAreUnique, stemsAreUnique: stemsAreDistinct)
    }
}
