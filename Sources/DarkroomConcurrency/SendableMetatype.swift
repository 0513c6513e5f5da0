#if compiler(<6.2)
    /// What Swift 6.2 asks of a type whose metatype is used on several threads (SE-0470). Before, every metatype may be.
    package typealias SendableMetatype = Any
#endif
