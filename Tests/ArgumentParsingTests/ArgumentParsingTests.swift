// ArgumentParsing tests
