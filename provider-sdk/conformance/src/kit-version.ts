/** Version of the kit, as in package.json; a test compares them. */
export const kitVersion = "0.1.0";
