"""Pure statistics of contingency tables: value, sensitivity, null law; no data set, noise or file is known here."""
