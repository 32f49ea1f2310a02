"""The numbers that the CECM paper prints, as mean and standard deviation over its trials."""

XIS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
COLUMNS = {"Iris": "mahalanobis", "Wine": "euclidean", "Glass": "mahalanobis"}  # of Tables 5 and 6

# Tables 5 (20, 50) and 6 (100, 200): for each data set one line of means and one of deviations, in the order of XIS.
RAND = {
    20: {
        "Iris": (
            (0.87, 0.93, 0.94, 0.94, 0.94, 0.94, 0.94, 0.94, 0.94, 0.94),
            (0.00, 0.02, 0.03, 0.03, 0.03, 0.03, 0.02, 0.03, 0.03, 0.03),
        ),
        "Wine": ((0.95,) * 10, (0.00, *(0.01,) * 9)),
        "Glass": (
            (0.85, 0.87, 0.86, 0.86, 0.87, 0.87, 0.87, 0.86, 0.86, 0.87),
            (0.00, 0.03, 0.03, 0.04, 0.03, 0.03, 0.03, 0.04, 0.03, 0.03),
        ),
    },
    50: {
        "Iris": ((0.87, *(0.96,) * 9), (0.00, *(0.02,) * 9)),
        "Wine": ((0.95, 0.95, *(0.96,) * 8), (0.00, *(0.01,) * 9)),
        "Glass": (
            (0.85, 0.89, 0.89, 0.89, 0.90, 0.90, 0.90, 0.89, 0.89, 0.90),
            (0.00, 0.02, 0.02, 0.03, 0.03, 0.03, 0.03, 0.03, 0.05, 0.03),
        ),
    },
    100: {
        "Iris": ((0.87, *(0.97,) * 9), (0.00, *(0.02,) * 9)),
        "Wine": (
            (0.95, 0.96, 0.97, 0.97, 0.97, 0.98, 0.98, 0.98, 0.98, 0.98),
            (0.00, *(0.01,) * 9),
        ),
        "Glass": (
            (0.85, 0.92, 0.92, 0.92, 0.93, 0.93, 0.94, 0.93, 0.93, 0.93),
            (0.00, *(0.02,) * 9),
        ),
    },
    200: {
        "Iris": ((0.87, *(0.99,) * 8, 0.98), (0.00, *(0.01,) * 8, 0.02)),
        "Wine": (
            (0.95, 0.97, 0.98, 0.98, 0.99, 0.99, 0.99, 0.99, 0.99, 0.99),
            (0.00, *(0.01,) * 9),
        ),
        "Glass": (
            (0.85, 0.94, 0.96, 0.96, 0.96, 0.97, 0.97, 0.97, 0.97, 0.97),
            (0.00, 0.01, 0.02, 0.01, *(0.02,) * 6),
        ),
    },
}

SIZES = {  # Table 4: objects, classes, attributes
    "Iris": (150, 3, 4),
    "Wine": (178, 3, 13),
    "Glass": (214, 2, 9),
    "Letters": (227, 3, 16),
    "Two-class": (400, 2, 2),
}

SECONDS = {  # Table 7
    "Iris": {
        "CFCM-Eucl": (5.2, 1.31), "CFCM-Mah": (6.28, 1.78), "CECM-Eucl": (2.74, 0.61), "CECM-Mah": (5.26, 1.17)
    },
    "Wine": {
        "CFCM-Eucl": (6.47, 1.37), "CFCM-Mah": (15.55, 4.91), "CECM-Eucl": (4.36, 0.51), "CECM-Mah": (9.75, 2.73)
    },
    "Glass": {
        "CFCM-Eucl": (0.69, 0.05), "CFCM-Mah": (0.99, 0.08), "CECM-Eucl": (2.5, 0.32), "CECM-Mah": (5.68, 1.98)
    },
    "Letters": {
        "CFCM-Eucl": (79.4, 45.24), "CFCM-Mah": (63.07, 27.58), "CECM-Eucl": (82.11, 29.42), "CECM-Mah": (37.46, 10.5)
    },
}  # fmt: skip
ITERATIONS = {  # Table 8
    "Iris": {
        "CFCM-Eucl": (25.23, 5.55), "CFCM-Mah": (28.34, 8.02), "CECM-Eucl": (5, 2), "CECM-Mah": (10.2, 3.02)
    },
    "Wine": {
        "CFCM-Eucl": (26.1, 3.52), "CFCM-Mah": (54.54, 15.87), "CECM-Eucl": (5.4, 1.1), "CECM-Mah": (12.95, 4.71)
    },
    "Glass": {
        "CFCM-Eucl": (42.3, 3.23), "CFCM-Mah": (48.76, 4.31), "CECM-Eucl": (5.65, 1.35), "CECM-Mah": (16, 8.01)
    },
    "Letters": {
        "CFCM-Eucl": (212.41, 122.13), "CFCM-Mah": (161.3, 70.83),
        "CECM-Eucl": (64.1, 25.05), "CECM-Mah": (29.85, 10.48),
    },
}  # fmt: skip

FOUR = {  # Table 9: seconds, iterations; "both versions gave a RI equal to 0.99"
    "CECM-1 Eucl": ((141.27, 52.08), (27.85, 11.65)),
    "CECM-2 Eucl": ((70.14, 25.52), (22, 9.15)),
    "CECM-1 Mah": ((144.79, 41.20), (21.95, 7.16332)),
    "CECM-2 Mah": ((76.03, 29.15), (21.05, 9.02)),
}
FOUR_RAND = 0.99

DIAGONAL, ACROSS = 0.56, 0.5  # Two-class without links: Euclidean (Figure 3) and adaptive (Figure 4)
ANSWERS_TO_THE_BEST = 40  # Iris, active questions: "the optimum is obtained with 40 constraints"
