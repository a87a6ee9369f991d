/** Version of this SDK, as package.json says; a test compares the two. */
export const sdkVersion = "0.1.0";
